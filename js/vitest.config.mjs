import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    environment: 'happy-dom',
    // One process less on small machines, and no state shared between test files.
    pool: 'threads',
    unstubGlobals: true,
    restoreMocks: true
  }
});
