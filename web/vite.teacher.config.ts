import { defineConfig } from "vite";

// The script of the teacher's page, which the server makes without one: a file beside the studio's page.
export default defineConfig({
  publicDir: false,
  build: {
    outDir: "../src/longfat/studio/static",
    emptyOutDir: false,
    lib: { entry: "src/teacher/main.ts", formats: ["iife"], name: "longfatTeacher", fileName: () => "teacher.js" },
  },
});
