// Markdown as Obsidian writes it, as elements. HTML goes through DOMPurify with an allowlist; links are not resolved here.
import DOMPurify from "dompurify";
import { Marked, type TokenizerAndRendererExtension, type Tokens } from "marked";

const TAGS = [
  ...["p", "br", "hr", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "li", "blockquote", "pre", "code", "table", "thead"],
  ...["tbody", "tr", "th", "td", "em", "strong", "del", "s", "mark", "sup", "sub", "u", "b", "i", "kbd", "small", "span"],
  ...["div", "section", "details", "summary", "dl", "dt", "dd", "abbr", "cite", "q", "figure", "figcaption", "samp", "var"],
];
const ATTRIBUTES = ["align", "start", "colspan", "rowspan", "open", "data-part"];

/** Something in the text that the view makes an element of itself: HTML holds only its number. */
export interface Part {
  kind: "link" | "image" | "tag" | "task" | "block" | "footnote" | "note";
  /** As written in the note. */
  raw: string;
  text: string;
  target: string;
}

export interface Rendered {
  fragment: DocumentFragment;
  parts: Part[];
}

const escaped = (text: string): string =>
  text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);

/** Parse Markdown. Every part is a `span` with its number in `data-part`. */
export function render(markdown: string): Rendered {
  const parts: Part[] = [];
  const footnotes: [string, string][] = [];
  const place = (kind: Part["kind"], raw: string, text: string, target = ""): string => {
    parts.push({ kind, raw, text, target });
    return `<span data-part="${parts.length - 1}"></span>`;
  };

  const inline = (
    name: string,
    begins: RegExp,
    pattern: RegExp,
    make: (found: RegExpExecArray) => string,
  ): TokenizerAndRendererExtension => ({
    name,
    level: "inline",
    start: (source) => {
      const at = source.search(begins);
      return at < 0 ? undefined : at;
    },
    tokenizer(source) {
      const found = pattern.exec(source);
      return found ? { type: name, raw: found[0], found } : undefined;
    },
    renderer: (token) => make(token.found),
  });

  const block = (name: string, pattern: RegExp, make: (found: RegExpExecArray) => string): TokenizerAndRendererExtension => ({
    name,
    level: "block",
    start: (source) => {
      const at = source.search(new RegExp(`(?:^|\\n)${pattern.source.slice(1)}`));
      return at < 0 ? undefined : at;
    },
    tokenizer(source) {
      const found = pattern.exec(source);
      return found ? { type: name, raw: found[0], found } : undefined;
    },
    renderer: (token) => make(token.found),
  });

  const wikilink = (found: RegExpExecArray): string => {
    const [raw, embeds, inside] = found as unknown as [string, string, string];
    const [target, ...shown] = inside.split("|");
    const text = (shown.join("|") || target!.replace(/^#/, "").replaceAll("#", " > ")).trim();
    return place(embeds ? "image" : "link", raw, text, target);
  };

  const marked = new Marked({ gfm: true, async: false });
  marked.use({
    extensions: [
      block("comment-block", /^%%[\s\S]*?(?:%%|$)(?:\n|$)/, () => ""),
      block("formula-block", /^\$\$([\s\S]+?)\$\$(?:\n|$)/, ([, text]) => `<pre><code>${escaped(text!.trim())}</code></pre>`),
      block("footnote-text", /^\[\^([^\]\s]+)\]:[ \t]*([^\n]*(?:\n(?:[ \t]+[^\n]+|[ \t]*(?=\n[ \t])))*)(?:\n|$)/, ([, name, text]) => {
        footnotes.push([name!, text!.replace(/\n[ \t]+/g, "\n")]);
        return "";
      }),
      inline("comment", /%%/, /^%%[\s\S]*?%%/, () => ""),
      inline("wikilink", /!?\[\[/, /^(!?)\[\[([^[\]\n]+)\]\]/, wikilink),
      inline("footnote-reference", /\[\^/, /^\[\^([^\]\s]+)\]/, ([raw, name]) => place("footnote", raw, name!)),
      inline("footnote-inline", /\^\[/, /^\^\[([^\]\n]+)\]/, ([raw, text]) => place("note", raw, text!)),
      inline("highlight", /==/, /^==(?=\S)([^\n]*?\S)==/, ([, text]) => `<mark>${marked.parseInline(text!) as string}</mark>`),
      inline("formula", /\$/, /^\$\$?(?!\s)([^$\n]+?)(?<!\s)\$\$?(?!\d)/, ([, text]) => `<code>${escaped(text!)}</code>`),
      inline("tag", /(?<=^|\s)#(?=[^\s#])/, /^#(?=[\p{N}/]*[\p{L}\p{M}\p{So}_-])[\p{L}\p{N}\p{M}\p{So}_/-]+/u, ([raw]) => place("tag", raw, raw)),
      inline("block-id", /(?<=\s)\^[a-zA-Z0-9-]+[ \t]*(?:\n|$)/, /^\^([a-zA-Z0-9-]+)[ \t]*(?=\n|$)/, ([raw, id]) => place("block", raw, id!)),
    ],
    renderer: {
      link(token: Tokens.Link): string {
        return place("link", token.raw, token.text || token.href, token.href);
      },
      image(token: Tokens.Image): string {
        return place("image", token.raw, token.text || token.href, token.href);
      },
      checkbox(token: Tokens.Checkbox): string {
        return place("task", token.raw, token.checked ? "done" : "to do");
      },
    },
  });

  const html = (text: string): string => marked.parse(text) as string;
  let all = html(markdown);
  if (footnotes.length) {
    // A footnote may name another, which adds nothing: what is defined is complete by now.
    const items = [...footnotes].map(([name, text]) => `<dt>${escaped(name)}</dt><dd>${marked.parseInline(text) as string}</dd>`);
    all += `<section><hr><dl>${items.join("")}</dl></section>`;
  }
  const fragment = DOMPurify.sanitize(all, {
    ALLOWED_TAGS: TAGS,
    ALLOWED_ATTR: ATTRIBUTES,
    ALLOW_DATA_ATTR: false,
    ALLOW_ARIA_ATTR: false,
    RETURN_DOM_FRAGMENT: true,
  });
  return { fragment, parts };
}
