// The view's side of MCP Apps (2026-01-26): JSON-RPC with the host by postMessage, and the way to the view's data.

/** What a tool of this server answers with; the member `view` names the page that shows it. */
export interface Data {
  view?: string;
  [key: string]: any;
}

export interface HostContext {
  theme?: string;
  locale?: string;
  timeZone?: string;
  displayMode?: string;
  availableDisplayModes?: string[];
  safeAreaInsets?: Record<string, number>;
  styles?: { variables?: Record<string, string>; css?: { fonts?: string } };
  toolInfo?: { tool?: { name?: string } };
  [key: string]: unknown;
}

interface CallResult {
  content?: { type: string; text?: string; data?: string; mimeType?: string }[];
  structuredContent?: { data?: Data };
  isError?: boolean;
}

/** How a view is told what happens; the last three states have nothing to show but a sentence. */
export interface Listener {
  data(data: Data): void;
  problem(text: string): void;
  context(context: HostContext): void;
}

const PROTOCOL = "2026-01-26";
/** A result that has not come after this time is asked for (a page that was reloaded never gets one). */
const PATIENCE = 5000;

/** A call that failed. `code` is the server's word for what went wrong; empty where the host left it out. */
export class CallError extends Error {
  constructor(message: string, readonly code: string) {
    super(message);
  }
}

export class Bridge {
  capabilities: Record<string, unknown> = {};
  context: HostContext = {};
  private arguments: Record<string, unknown> = {};
  private pending = new Map<number, { resolve(value: any): void; reject(error: Error): void }>();
  private last = 0;
  private hasData = false;

  /** `tool` reads what the view shows; `data` is there already in a page that stands outside a chat. */
  constructor(private view: string, private tool: string, private listener: Listener, private data: Data | null) {}

  start(): void {
    if (this.data) return this.receive(this.data);
    window.addEventListener("message", (event) => {
      if (event.source === window.parent && event.data?.jsonrpc === "2.0") this.take(event.data);
    });
    void this.greet();
  }

  private async greet(): Promise<void> {
    const answer = await this.request("ui/initialize", {
      appInfo: { name: `obsidian-mcp ${this.view}`, version: "1" },
      appCapabilities: { availableDisplayModes: ["inline", "fullscreen"] },
      protocolVersion: PROTOCOL,
    });
    this.capabilities = answer.hostCapabilities ?? {};
    this.merge(answer.hostContext ?? {});
    this.notify("ui/notifications/initialized", {});
    setTimeout(() => this.hasData || void this.ask(), PATIENCE);
  }

  /** Whether the view can call tools; without it, it only shows. */
  get canCall(): boolean {
    return !this.isAlone && "serverTools" in this.capabilities;
  }

  /** Whether the page stands outside a chat, with its data inside. */
  get isAlone(): boolean {
    return this.data !== null;
  }

  get canOpen(): boolean {
    return this.isAlone || "openLinks" in this.capabilities;
  }

  /** Call a tool of our server; its data. Throws the text of an error. */
  async call(name: string, given: Record<string, unknown>): Promise<Data> {
    const found = dataOf(await this.callRaw(name, given));
    if (!found) throw new Error(`${name} answered with nothing that can be shown.`);
    return found;
  }

  async callRaw(name: string, given: Record<string, unknown>): Promise<CallResult> {
    const result: CallResult = await this.request("tools/call", { name, arguments: given });
    if (!result.isError) return result;
    const text = textOf(result) || "The call failed.";
    throw new CallError(text, /\(([A-Z_]+)\)$/.exec(text)?.[1] ?? "");
  }

  openLink(url: string): void {
    if (/^https?:/i.test(url) && "openLinks" in this.capabilities) void this.request("ui/open-link", { url });
  }

  /** Tell the model a fact about what the user did here; never the text of a note. */
  tell(fact: string): void {
    if ("updateModelContext" in this.capabilities) {
      void this.request("ui/update-model-context", { content: [{ type: "text", text: fact }] }).catch(() => {});
    }
  }

  async expand(): Promise<void> {
    const answer = await this.request("ui/request-display-mode", { mode: "fullscreen" });
    this.merge({ displayMode: answer.mode });
  }

  size(width: number, height: number): void {
    if (!this.data) this.notify("ui/notifications/size-changed", { width, height });
  }

  private request(method: string, params: unknown): Promise<any> {
    const id = ++this.last;
    this.send({ jsonrpc: "2.0", id, method, params });
    return new Promise((resolve, reject) => this.pending.set(id, { resolve, reject }));
  }

  private notify(method: string, params: unknown): void {
    this.send({ jsonrpc: "2.0", method, params });
  }

  private send(message: unknown): void {
    window.parent.postMessage(message, "*");
  }

  private take(message: any): void {
    if (message.method === undefined) {
      const waiting = this.pending.get(message.id);
      this.pending.delete(message.id);
      const { error } = message;
      if (error) waiting?.reject(new CallError(error.message ?? "The host refused.", error.data?.errorCode ?? ""));
      else waiting?.resolve(message.result ?? {});
      return;
    }
    const params = message.params ?? {};
    switch (message.method) {
      case "ui/notifications/tool-input":
        this.arguments = params.arguments ?? {};
        break;
      case "ui/notifications/tool-result":
        this.takeResult(params);
        break;
      case "ui/notifications/tool-cancelled":
        this.hasData = true;
        this.listener.problem("The call was cancelled.");
        break;
      case "ui/notifications/host-context-changed":
        this.merge(params);
        break;
      case "ui/resource-teardown":
      case "ping":
        this.send({ jsonrpc: "2.0", id: message.id, result: {} });
        break;
      default:
        if (message.id !== undefined) {
          this.send({ jsonrpc: "2.0", id: message.id, error: { code: -32601, message: "Method not found" } });
        }
    }
  }

  private takeResult(result: CallResult): void {
    const found = dataOf(result);
    if (result.isError) {
      this.hasData = true;
      this.listener.problem(textOf(result) || "The call failed.");
    } else if (found) this.receive(found);
    else void this.ask();
  }

  /** Get the data anew, with the arguments of the call whose result did not come. */
  private async ask(): Promise<void> {
    this.hasData = true;
    if (!this.canCall) return this.listener.problem("The host sent no result, and lets this view call no tools.");
    try {
      this.receive(await this.call(this.tool, this.arguments));
    } catch (error) {
      this.listener.problem(`The host sent no result. ${(error as Error).message}`);
    }
  }

  private receive(found: Data): void {
    if (found.view !== this.view) return;
    this.hasData = true;
    this.listener.data(found);
  }

  private merge(changed: HostContext): void {
    Object.assign(this.context, changed);
    this.listener.context(this.context);
  }
}

function textOf(result: CallResult): string {
  return result.content?.find((block) => block.type === "text")?.text ?? "";
}

/** The data of a result: structured, or from the text where a host leaves the structure out. */
function dataOf(result: CallResult): Data | null {
  if (result.structuredContent?.data) return result.structuredContent.data;
  try {
    const envelope = JSON.parse(textOf(result));
    return envelope?.success === true && envelope.data ? envelope.data : null;
  } catch {
    return null;
  }
}
