import { defineConfig } from "vite";
import { svelte } from "@sveltejs/vite-plugin-svelte";

// The page is built into dist, committed, and embedded into the binary: names
// without hashes keep its history readable.
export default defineConfig({
  plugins: [svelte()],
  base: "./",
  build: {
    target: "es2022",
    sourcemap: false,
    reportCompressedSize: false,
    chunkSizeWarningLimit: 2000,
    rollupOptions: {
      output: {
        inlineDynamicImports: true, // roslib's socket is asked for at once, not after the first picture
        entryFileNames: "assets/[name].js",
        assetFileNames: "assets/[name][extname]",
      },
    },
  },
  server: { proxy: { "/rosbridge": { target: "ws://127.0.0.1:8080", ws: true } } },
});
