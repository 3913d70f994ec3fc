// A note as it is meant to be read. Its text is hostile: see markdown.ts.
import type { Data } from "./bridge";
import { render, type Part } from "./markdown";
import { button, fileName, h, openInApp, plainLinks, plainText, View, wide } from "./ui";

interface Target {
  path: string;
  kind: string;
  exists: boolean;
  subpath: string;
}

interface Page {
  markdown: string;
  links: Record<string, Target>;
  images: { raw: string; path: string; alt: string }[];
  next_offset?: number | null;
}

const MOST_IMAGES = 20;
const CALLOUT = /^\[!([^\]\n]+)\]([+-]?)[ \t]*/;

class Note extends View {
  private data: Data = {};
  private history: Data[] = [];
  private text = h("article", { class: "note" });
  private images = 0;
  private observer: IntersectionObserver | null = null;

  show(data: Data): void {
    this.data = data;
    this.observer?.disconnect();
    this.images = 0;
    this.text = h("article", { class: "note" });
    const [first] = data.outline as [number, string, number][];
    const isRepeated = first?.[0] === 1 && plainText(first[1]) === data.title; // by the first heading of the text
    const title = h("h1", { class: isRepeated && "hidden-text" }, data.title);
    const head = h("header", {}, title, h("p", { class: "meta" }, this.bridge.isAlone ? openInApp(data.vault, data.path, data.path) : data.path));
    if (this.history.length) head.prepend(button("Back", () => this.back()));
    const beside = h("aside", {}, this.properties(), this.outline(), this.backlinks());
    this.body.replaceChildren(head, beside, this.text);
    const cut = data.length > data.excerpt.length;
    const page: Page = data.page ?? { markdown: data.excerpt, links: {}, images: [] };
    this.drawPage(page, !data.page);
    if (data.page) return;
    if (this.bridge.canCall) void this.load();
    else if (cut) {
      this.body.append(h("p", { class: "notice" }, "Only the beginning is shown: this host lets no view call tools."));
    }
  }

  private properties(): HTMLElement | string {
    const entries = this.data.properties as [string, string, unknown][];
    if (!entries.length) return "";
    const list = h("dl");
    for (const [name, , value] of entries) {
      const words = Array.isArray(value) ? value.join(", ") : String(value);
      list.append(h("dt", {}, name), h("dd", {}, plainLinks(words)));
    }
    const isOpen = this.bridge.isAlone || entries.length <= 4;
    return h("details", { class: "properties", open: isOpen }, h("summary", {}, "Properties"), list);
  }

  private outline(): HTMLElement | string {
    const entries = this.data.outline as [number, string, number][];
    if (entries.length < 2) return "";
    const list = h("ul");
    for (const [level, text] of entries) {
      const go = button(plainText(text), () => this.scrollTo(text), { class: "plain" });
      list.append(h("li", { class: `level-${level}` }, go));
    }
    return h("details", { class: "outline", open: this.bridge.isAlone }, h("summary", {}, "Outline"), list);
  }

  /** The notes that link here: in a page that stands outside a chat. */
  private backlinks(): HTMLElement | string {
    const sources = this.data.backlinks as string[] | undefined;
    if (!sources?.length) return "";
    const list = h("ul");
    for (const path of sources) list.append(h("li", {}, openInApp(this.data.vault, path, fileName(path))));
    return h("details", { class: "outline", open: true }, h("summary", {}, `Linked from (${sources.length})`), list);
  }

  private async load(): Promise<void> {
    await this.attempt(async () => {
      const wanted = this.data;
      const page = await this.bridge.call("obsidian_note_page", { path: wanted.path, vault: wanted.vault });
      if (this.data !== wanted) return;
      this.text.replaceChildren();
      for (const more of this.body.querySelectorAll(":scope > .more")) more.remove();
      this.drawPage(page as unknown as Page, false);
      if (wanted.heading) this.scrollTo(wanted.heading);
    });
  }

  private drawPage(page: Page, isExcerpt: boolean): void {
    const { fragment, parts } = render(page.markdown);
    const targets = new Map(Object.entries(page.links).map(([raw, target]) => [raw.replaceAll("\\|", "|"), target]));
    for (const place of fragment.querySelectorAll("[data-part]")) {
      const part = parts[Number(place.getAttribute("data-part"))];
      place.removeAttribute("data-part");
      if (part) place.replaceWith(this.element(part, targets.get(part.raw), isExcerpt));
    }
    for (const quote of fragment.querySelectorAll("blockquote")) callout(quote);
    for (const table of fragment.querySelectorAll("table")) {
      const place = document.createComment("");
      table.replaceWith(place);
      place.replaceWith(wide(table));
    }
    const blocks = [...fragment.childNodes].filter((node) => node instanceof Element || node.textContent?.trim());
    this.reveal(this.text, blocks);
    if (page.next_offset) this.text.after(this.nextPage(page.next_offset));
  }

  private nextPage(offset: number): HTMLElement {
    const more = button("Load more", () =>
      void this.attempt(async () => {
        const given = { path: this.data.path, vault: this.data.vault, offset };
        const page = (await this.bridge.call("obsidian_note_page", given)) as unknown as Page;
        more.remove();
        this.drawPage(page, false);
      }),
    );
    more.className = "more";
    return more;
  }

  // --- what stands in the text

  private element(part: Part, target: Target | undefined, isExcerpt: boolean): Node {
    switch (part.kind) {
      case "tag":
        return h("span", { class: "tag" }, part.text);
      case "task":
        return h("span", { role: "img", class: "box", "aria-label": part.text }, part.text === "done" ? "☑ " : "☐ ");
      case "block":
        return h("span", { class: "anchor", "data-block": part.text.toLowerCase() });
      case "footnote":
        return h("sup", {}, `[${part.text}]`);
      case "note":
        return h("span", { class: "quiet" }, ` (${part.text})`);
      default:
        if (target) return part.kind === "image" ? this.embed(part, target) : this.link(part, target);
        if (/^https?:/i.test(part.target)) return this.external(part);
        if (isExcerpt) return document.createTextNode(part.text);
        return h("span", { class: "missing" }, part.text, h("span", { class: "hidden-text" }, " (leads nowhere)"));
    }
  }

  private link(part: Part, target: Target): Node {
    if (!target.exists) {
      return h("span", { class: "missing", title: "not created" }, part.text, h("span", { class: "hidden-text" }, " (not created)"));
    }
    const isHere = target.path === this.data.path;
    if (isHere && target.subpath) return button(part.text, () => this.scrollTo(target.subpath), { class: "plain link" });
    if (this.bridge.isAlone && !isHere) return openInApp(this.data.vault, target.path, part.text);
    if (target.kind !== "note" || !this.bridge.canCall || isHere) return h("span", { class: "inert" }, part.text);
    return button(part.text, () => void this.follow(target), { class: "plain link" });
  }

  private external(part: Part): Node {
    const isImage = part.kind === "image";
    const text = isImage ? `Image, not loaded: ${part.text}` : part.text;
    if (!this.bridge.canOpen) return h("span", { class: "inert", title: part.target }, text);
    if (this.bridge.isAlone) return h("a", { href: part.target, rel: "noopener noreferrer", title: part.target }, text);
    return button(text, () => this.bridge.openLink(part.target), { class: "plain link", title: part.target });
  }

  private embed(part: Part, target: Target): Node {
    const isShown = target.kind === "image" && !/\.svg$/i.test(target.path);
    const embedded = this.data.images?.[target.path];
    const label = /^\d+(x\d+)?$/.test(part.text) ? fileName(target.path) : part.text;
    if (target.exists && isShown && (embedded || (this.bridge.canCall && this.images < MOST_IMAGES))) {
      this.images += 1;
      const canvas = h("canvas", { role: "img", "aria-label": label, width: 1, height: 1 });
      if (embedded) void paint(canvas, embedded.data, embedded.mime);
      else this.whenVisible(canvas, () => void this.loadImage(canvas, target.path));
      return canvas;
    }
    const box = h("span", { class: "embed" }, target.exists ? `${kindName(target.kind)}: ` : "");
    box.append(this.link({ ...part, text: label }, target));
    return box;
  }

  private whenVisible(element: HTMLElement, act: () => void): void {
    this.observer ??= new IntersectionObserver((entries) => {
      for (const entry of entries) {
        if (!entry.isIntersecting) continue;
        this.observer!.unobserve(entry.target);
        entry.target.dispatchEvent(new Event("seen"));
      }
    });
    element.addEventListener("seen", act, { once: true });
    this.observer.observe(element);
  }

  private async loadImage(canvas: HTMLCanvasElement, path: string): Promise<void> {
    try {
      const result = await this.bridge.callRaw("obsidian_attachments", { name: path, vault: this.data.vault });
      const image = result.content?.find((block) => block.type === "image");
      if (!image?.data) throw new Error("no image");
      await paint(canvas, image.data, image.mimeType ?? "image/png");
    } catch {
      canvas.replaceWith(h("span", { class: "embed" }, `Image, cannot be shown: ${fileName(path)}`));
    }
  }

  // --- moving about

  private async follow(target: Target): Promise<void> {
    await this.attempt(async () => {
      const given = { path: target.path, heading: target.subpath, vault: this.data.vault };
      const data = await this.bridge.call("obsidian_show_note", given);
      this.history = this.isInline ? [this.data] : [...this.history, this.data];
      this.show(data);
      this.say(`Showing ${data.title}.`);
      this.root.scrollIntoView?.({ block: "start" });
    });
  }

  private back(): void {
    const data = this.history.pop();
    if (data) this.show({ ...data, heading: "" });
  }

  /** Scroll to a heading (`Heading`, `#Parent#Child`) or a block (`#^id`), where the page with it is loaded. */
  private scrollTo(place: string): void {
    const last = place.slice(place.lastIndexOf("#") + 1);
    this.body.querySelector<HTMLElement>(":scope > .more")?.click(); // what is folded away cannot be scrolled to
    const wanted = plainText(last).toLowerCase();
    const found = last.startsWith("^")
      ? this.text.querySelector(`[data-block="${CSS.escape(last.slice(1).toLowerCase())}"]`)
      : [...this.text.querySelectorAll("h1,h2,h3,h4,h5,h6")].find((heading) => plainText(heading.textContent!).toLowerCase() === wanted);
    if (!found) return this.say(`${plainText(last)} is not on the part that is loaded.`);
    found.setAttribute("tabindex", "-1");
    (found as HTMLElement).focus({ preventScroll: true });
    found.scrollIntoView({ block: "start" });
  }
}

const kindName = (kind: string): string => ({ note: "Note", pdf: "PDF", audio: "Audio", video: "Video" })[kind] ?? "File";

async function paint(canvas: HTMLCanvasElement, base64: string, mime: string): Promise<void> {
  const bytes = Uint8Array.from(atob(base64), (sign) => sign.charCodeAt(0));
  const bitmap = await createImageBitmap(new Blob([bytes], { type: mime }));
  canvas.width = bitmap.width;
  canvas.height = bitmap.height;
  canvas.getContext("2d")!.drawImage(bitmap, 0, 0);
  bitmap.close();
}

/** A quote that begins with `[!kind]` becomes a box with a title, which folds where the note says so. */
function callout(quote: Element): void {
  const first = quote.firstElementChild;
  const lead = first?.firstChild;
  const found = lead?.nodeType === Node.TEXT_NODE ? CALLOUT.exec(lead.textContent!) : null;
  if (!found || first!.tagName !== "P") return;
  const [whole, kind, fold] = found as unknown as [string, string, string];
  lead!.textContent = lead!.textContent!.slice(whole.length);
  const title: Node[] = [];
  for (const node of [...first!.childNodes]) {
    const end = node.nodeType === Node.TEXT_NODE ? node.textContent!.indexOf("\n") : -1;
    if (end >= 0) {
      title.push(document.createTextNode(node.textContent!.slice(0, end)));
      node.textContent = node.textContent!.slice(end + 1);
      break;
    }
    title.push(node);
    node.remove();
  }
  const name = kind.split("|")[0]!.trim();
  if (!title.some((node) => node.textContent?.trim())) {
    title.splice(0, title.length, document.createTextNode(name[0]!.toUpperCase() + name.slice(1).toLowerCase()));
  }
  if (!first!.childNodes.length) first!.remove();
  const label = h("strong", {}, h("span", { class: "badge" }, name.toLowerCase()), " ", ...title);
  const box = fold
    ? h("details", { class: "callout", open: fold === "+" }, h("summary", {}, label))
    : h("div", { class: "callout" }, label);
  box.append(...quote.childNodes);
  quote.replaceWith(box);
}

new Note("note", "obsidian_show_note").start();
