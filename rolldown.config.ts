import { defineConfig } from 'rolldown';

/**
 * What a start needs goes into a few files, because finding and linking the three hundred modules of it takes longer than
 * running them. What is loaded later, and what has native parts, stays in node_modules. Nothing is minified: what runs
 * can be read.
 */
export default defineConfig({
  // Beside the program: what runs in a thread of its own, and what the image's build compiles beforehand.
  input: ['src/main.ts', 'src/tools/fetch-external/markdown-worker.ts', 'src/cli/deferred.ts'],
  platform: 'node',
  external: [/^@opentelemetry\//, /^(?:prom-client|ssh2|turndown|undici|yaml)(?:\/|$)/],
  output: {
    dir: 'dist',
    format: 'esm',
    entryFileNames: '[name].js',
    chunkFileNames: '[name].js',
    codeSplitting: { groups: [{ name: 'zod', test: /node_modules\/zod\// }] },
  },
});
