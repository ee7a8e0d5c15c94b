// A stylesheet imported by a panel is its text: esbuild puts it into the bundle.
declare module '*.css' {
  const text: string;
  export default text;
}
