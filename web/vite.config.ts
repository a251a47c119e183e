import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The page is built into the Python package, so that a user needs no Node.
export default defineConfig({
  plugins: [react()],
  build: { outDir: "../src/longfat/studio/static", emptyOutDir: true, chunkSizeWarningLimit: 2000 },
  test: { environment: "jsdom", include: ["src/**/*.test.ts", "src/**/*.test.tsx"] },
});
