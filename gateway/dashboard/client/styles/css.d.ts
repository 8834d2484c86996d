/** esbuild takes imported styles into the style sheet of the entry (scripts/dashboard/build.ts). */
declare module '*.css';
