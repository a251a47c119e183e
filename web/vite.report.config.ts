import { defineConfig } from "vite";

// The script of a report's page, with its style: one file each, which the page carries.
export default defineConfig({
  build: {
    outDir: "../src/longfat/output/report/bundle",
    emptyOutDir: true,
    lib: { entry: "src/report/main.ts", formats: ["iife"], name: "longfatReport", fileName: () => "report.js", cssFileName: "report" },
  },
});
