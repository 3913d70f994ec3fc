// What all views share: elements without HTML text, the frame around a view, and its size.
import { Bridge, type Data, type HostContext } from "./bridge";

type Child = Node | string | null | undefined | false;
type Attributes = Record<string, string | number | boolean | undefined | ((event: any) => void)>;

/** An element. Attributes that begin with `on` are listeners; text is text, whatever it holds. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, "");
    else if (value !== undefined && value !== false) element.setAttribute(name, String(value));
  }
  element.append(...children.filter((child): child is Node | string => !!child || child === ""));
  return element;
}

export const button = (label: string, act: () => void, attributes: Attributes = {}): HTMLButtonElement =>
  h("button", { type: "button", onclick: act, ...attributes }, label);

/** Most pixels of a view in the chat, below which nothing is hidden. */
export const INLINE_HEIGHT = 500;
const MORE_HEIGHT = 52;
/** Of a long list: steps before the first picture, the pause behind that, and how long the page does nothing else. */
const [FIRST_STEPS, FIRST_LOOK_MILLISECONDS, SLICE_MILLISECONDS] = [120, 100, 30];
const FIRST_CHARACTERS = 400;

/** One view: its place in the page, its bridge, and what is said to people who do not see it. */
export abstract class View {
  readonly root = document.getElementById("view")!;
  readonly body = h("div", { class: "body" });
  private readonly status = h("p", { class: "status", role: "status", "aria-live": "polite" });
  private readonly tools = h("div", { class: "frame-tools" });
  readonly bridge: Bridge;
  private filling = 0;

  constructor(name: string, tool: string) {
    const inside = document.getElementById("data")!.textContent ?? "";
    const data: Data | null = inside ? JSON.parse(inside) : null;
    this.root.append(this.tools, this.body, this.status);
    this.body.append(heading(), h("p", { class: "quiet" }, "Loading …"));
    this.bridge = new Bridge(
      name,
      tool,
      {
        data: (found) => this.draw(found),
        problem: (text) => this.fail(text),
        context: (context) => this.adapt(context),
      },
      data,
    );
    if (data) {
      // Outside a chat the view has the whole window, so nothing is folded away.
      this.bridge.context.displayMode = "fullscreen";
      document.documentElement.dataset.alone = name;
      this.adapt(this.bridge.context);
    }
    this.watchSize();
    this.watchTheme();
  }

  start(): void {
    this.bridge.start();
  }

  /** Show data, the first and every later time. */
  abstract show(data: Data): void;

  private draw(data: Data): void {
    this.root.removeAttribute("aria-busy");
    this.show(data);
    this.drawTools();
  }

  /** Show that there is nothing to show, with the reason as it came. */
  fail(text: string): void {
    this.root.removeAttribute("aria-busy");
    this.body.replaceChildren(heading(), h("p", { class: "problem", role: "alert" }, text));
  }

  /** Say what an action did. */
  say(text: string, isProblem = false): void {
    this.status.textContent = text;
    this.status.classList.toggle("problem", isProblem);
  }

  /** Do something that may fail; what is wrong is said in the view. */
  async attempt(work: () => Promise<void>): Promise<void> {
    try {
      await work();
    } catch (error) {
      this.say((error as Error).message, true);
    }
  }

  get isInline(): boolean {
    return (this.bridge.context.displayMode ?? "inline") === "inline";
  }

  get locale(): string | undefined {
    return this.bridge.context.locale as string | undefined;
  }

  /** Do many small steps: the first ones at once, the others as the browser finds time, so that a page of thousands
   * of cards can be read and used at once and is whole soon. Another list of steps takes the place of the one before. */
  fillSlowly(steps: readonly (() => void)[]): void {
    clearTimeout(this.filling);
    let next = Math.min(FIRST_STEPS, steps.length);
    for (const step of steps.slice(0, next)) step();
    const goOn = () => {
      const end = performance.now() + SLICE_MILLISECONDS;
      while (next < steps.length && performance.now() < end) steps[next++]!();
      this.filling = next < steps.length ? window.setTimeout(goOn) : 0;
    };
    // what is printed is whole
    window.onbeforeprint = () => {
      clearTimeout(this.filling);
      while (next < steps.length) steps[next++]!();
    };
    if (next < steps.length) this.filling = window.setTimeout(goOn, FIRST_LOOK_MILLISECONDS);
  }

  /** Append parts until the view is as high as one in a chat should be; the rest comes with a button. */
  reveal(container: HTMLElement, parts: Node[]): void {
    const room = INLINE_HEIGHT - MORE_HEIGHT;
    let shown = 0;
    for (const part of parts) {
      container.append(part);
      shown += 1;
      if (this.isInline && shown < parts.length && this.root.offsetHeight > room) {
        if (shown > 1) {
          shown -= 1;
          container.removeChild(part);
        }
        break;
      }
    }
    const rest = parts.slice(shown);
    if (!rest.length) return;
    const row = container.closest(".wide") ?? container;
    const more = button(`Show more (${rest.length})`, () => {
      more.remove();
      container.append(...rest);
      (rest[0] as HTMLElement).querySelector<HTMLElement>("a[href],button,input,summary,[tabindex]")?.focus();
    });
    more.className = "more";
    row.after(more);
  }

  private drawTools(): void {
    const modes = this.bridge.context.availableDisplayModes ?? [];
    const expand = modes.includes("fullscreen") && this.isInline;
    this.tools.replaceChildren(
      ...(expand ? [button("Expand", () => void this.attempt(() => this.bridge.expand()), { class: "plain" })] : []),
    );
  }

  private adapt(context: HostContext): void {
    if (this.bridge) this.drawTools();
    const page = document.documentElement;
    if (context.theme) {
      page.dataset.theme = context.theme;
      page.style.colorScheme = context.theme;
    }
    if (context.locale) page.lang = context.locale;
    for (const [name, value] of Object.entries(context.styles?.variables ?? {})) {
      if (name.startsWith("--") && value) page.style.setProperty(name, value);
    }
    const insets = context.safeAreaInsets ?? {};
    this.root.style.padding = ["top", "right", "bottom", "left"].map((side) => `${8 + (insets[side] ?? 0)}px`).join(" ");
    page.dataset.mode = context.displayMode ?? "inline";
  }

  /** Outside a host the system's theme counts. */
  private watchTheme(): void {
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    const follow = () => {
      if (!this.bridge.context.theme) document.documentElement.dataset.theme = dark.matches ? "dark" : "light";
    };
    dark.addEventListener("change", follow);
    follow();
  }

  private watchSize(): void {
    let known = "";
    new ResizeObserver(() => {
      const [width, height] = [this.root.offsetWidth, this.root.offsetHeight];
      if (`${width} ${height}` === known) return;
      known = `${width} ${height}`;
      this.bridge.size(width, height);
    }).observe(this.root);
  }
}

/** The name of the view, for those who listen, while nothing else is shown. */
const heading = (): HTMLElement => h("h1", { class: "hidden-text" }, document.title);

/** A table that is scrolled sideways where it is wider than the view. */
export const wide = (table: HTMLElement): HTMLElement =>
  h("div", { class: "wide", tabindex: 0, role: "region", "aria-label": "Table" }, table);

/** Text without the marks of links. */
export const plainLinks = (text: string): string =>
  text.replace(/!?\[\[(?:[^\]|]*\|)?([^\]]*)\]\]/g, "$1").replace(/!?\[([^\]]*)\]\([^)]*\)/g, "$1");

/** Text as words: without the marks of Markdown. */
export const plainText = (text: string): string => plainLinks(text).replace(/^#+ |[*_`~=]+/gm, "").trim();

/** A text of so many code points at most: half an emoji would be shown as a box. */
export const shortened = (text: string, most: number): string => {
  const points = [...text];
  return points.length > most ? `${points.slice(0, most - 1).join("")}…` : text;
};

/** The first lines of a note as words. */
export const firstLines = (markdown: string): string =>
  shortened(plainText(markdown).replace(/\n\s*\n/g, "\n"), FIRST_CHARACTERS);

/** `3 files`, `1 file`. */
export const count = (number: number, noun: string): string => `${number} ${noun}${number === 1 ? "" : "s"}`;

export const fileName = (path: string): string => path.slice(path.lastIndexOf("/") + 1).replace(/\.md$/, "");

/** A link that opens a file in the app: for pages in a browser, where no host stands between. */
export const openInApp = (vault: string, path: string, text = "Open in Obsidian"): HTMLAnchorElement =>
  h("a", { href: `obsidian://open?vault=${encodeURIComponent(vault)}&file=${encodeURIComponent(path)}` }, text);
