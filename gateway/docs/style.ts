/** The page's only style. It is inline, and the content policy has its hash. The page loads nothing else. */
export const STYLE = `
:root { color-scheme: light dark; --line: light-dark(#ddd, #444); --soft: light-dark(#f6f6f4, #1e1f22); }
* { box-sizing: border-box; }
body { font: 16px/1.5 system-ui, sans-serif; margin: 0; display: flex; }
nav { width: 17rem; height: 100vh; position: sticky; top: 0; overflow: auto; padding: 1rem; border-right: 1px solid var(--line); flex: none; font-size: .9rem; }
nav ul { list-style: none; padding: 0; }
nav li { margin: .25rem 0; }
main { padding: 1rem 2rem 6rem; max-width: 60rem; min-width: 0; }
section { border-top: 1px solid var(--line); margin-top: 2.5rem; padding-top: .5rem; }
h2 { margin-top: 3rem; }
h3 code { font-size: 1.05rem; }
code, pre { font: .875rem/1.45 ui-monospace, monospace; }
pre { background: var(--soft); border: 1px solid var(--line); border-radius: 6px; padding: .75rem; overflow: auto; }
table { border-collapse: collapse; width: 100%; font-size: .925rem; display: block; overflow: auto; }
th, td { border-bottom: 1px solid var(--line); padding: .35rem .75rem .35rem 0; text-align: left; vertical-align: top; }
td:last-child { width: 100%; }
a { color: light-dark(#0b57d0, #8ab4f8); }
.method { font-weight: 700; text-transform: uppercase; }
.soft { opacity: .75; }
@media (max-width: 50rem) { body { display: block; } nav { position: static; width: auto; height: auto; border: 0; } main { padding: 1rem; } }
`;
