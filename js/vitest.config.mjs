import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    // A machine that does much else takes long; no test is about time.
    testTimeout: 60_000,
    include: ['test/**/*.test.ts'],
    environment: 'happy-dom',
    // One process less on small machines, and no state shared between test files.
    pool: 'threads',
    unstubGlobals: true,
    restoreMocks: true
  }
});
