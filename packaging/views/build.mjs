// Builds the frame that all views share (markup, style, `ui.ts`, `bridge.ts`) and a script of each view, of which the
// server makes one HTML file without any reference to another; and collects the licences of what is bundled.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const target = process.argv[2] ?? join(here, "../../obsidian_mcp/serve/views");
const VIEWS = ["changes", "graph", "query", "note"];

// The stamp that tests/serve/mcp/test_views.py computes, too: it shows whether the pages are those of the sources.
const stamp = createHash("sha256");
const sources = [...readdirSync(join(here, "src")).map((name) => `src/${name}`), "build.mjs", "package-lock.json"];
for (const name of sources.sort()) stamp.update(`${name}\0${readFileSync(join(here, name), "utf8")}\0`);
const digest = stamp.digest("hex");

const policy = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'";
const bundled = new Set();

/** Takes what `ui.ts` and `bridge.ts` export from the frame. */
const fromFrame = {
  name: "from-frame",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\/(ui|bridge)$/ }, ({ path }) => ({ path, namespace: "frame" }));
    onLoad({ filter: /.*/, namespace: "frame" }, () => ({ contents: "module.exports = frame" }));
  },
};

async function bundle(file, options) {
  const result = await build({
    ...options,
    entryPoints: [join(here, "src", file)],
    bundle: true,
    minify: true,
    write: false,
    metafile: true,
    target: "es2022",
    legalComments: "none",
    charset: "utf8",
    absWorkingDir: here,
  });
  for (const input of Object.keys(result.metafile.inputs)) {
    const found = /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input);
    if (found) bundled.add(found[1]);
  }
  return result.outputFiles[0].text.trim();
}

function write(name, text) {
  writeFileSync(join(target, name), text);
  console.log(`${name} ${(Buffer.byteLength(text) / 1024).toFixed(1)} KB`);
}

const style = await bundle("style.css");
const shared = await bundle("ui.ts", { globalName: "frame" });
const frame = [
  "<!doctype html>",
  `<!-- Built by \`make views\` from packaging/views; do not edit. sources: ${digest} -->`,
  '<html lang="en"><head><meta charset="utf-8">',
  '<meta name="viewport" content="width=device-width, initial-scale=1">',
  `<meta http-equiv="Content-Security-Policy" content="${policy}">`,
  `<title></title><style>${style}</style></head>`,
  '<body><main id="view" aria-busy="true"></main>',
  '<script id="data" type="application/json"></script>',
  `<script>${shared}</script>`,
  "<script></script></body></html>",
  "",
];
write("frame.html", frame.join("\n"));
for (const name of VIEWS) write(`${name}.js`, `${await bundle(`${name}.ts`, { plugins: [fromFrame] })}\n`);

const licences = [...bundled].sort().map((name) => {
  const folder = join(here, "node_modules", name);
  const about = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  const texts = readdirSync(folder).filter((file) => /^licen[cs]e/i.test(file)).sort();
  if (!texts.length) throw new Error(`${name} has no licence file`);
  const ours = about.license.includes(" OR ") ? texts.slice(0, 1) : texts; // of a choice, the one in its file LICENSE
  const body = ours.map((file) => readFileSync(join(folder, file), "utf8").trim()).join("\n\n");
  return `${"=".repeat(80)}\n${name} ${about.version} (${about.license})\n${"=".repeat(80)}\n\n${body}\n`;
});
writeFileSync(
  join(target, "THIRD_PARTY_LICENSES.txt"),
  `The pages of the views contain these libraries.\n\n${licences.join("\n")}`.replaceAll("\r\n", "\n"),
);
