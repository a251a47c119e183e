import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

// The page is built into the Python package, so that a user needs no Node.
export default defineConfig({
  plugins: [react()],
  build: { outDir: "../src/longfat/studio/static", emptyOutDir: true, chunkSizeWarningLimit: 2000 },
  // A test that needs a document says so in its first line; creating one takes half a second.
  test: { environment: "node", pool: "vmThreads", include: ["src/**/*.test.ts", "src/**/*.test.tsx"] },
});
