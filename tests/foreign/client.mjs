// The TypeScript SDK's client against a server: node client.mjs URL [KEY]. Prints what it saw as JSON.
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";

const [url, key] = process.argv.slice(2);
const headers = key ? { Authorization: `Bearer ${key}` } : {};
const transport = new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } });
const client = new Client({ name: "foreign", version: "1.0.0" });
await client.connect(transport);
const { tools } = await client.listTools();
const read = await client.callTool({ name: "read_note", arguments: { path: "Home" } });
const failed = await client.callTool({ name: "read_note", arguments: { path: "No such note" } });
let refused = 0;
try {
  await client.callTool({ name: "no_such_tool", arguments: {} });
} catch (error) {
  refused = error.code;
}
await client.ping();
const session = transport.sessionId !== undefined;
await transport.terminateSession();
await client.close();
const server = client.getServerVersion().name;
console.log(JSON.stringify({ server, session, tools: tools.map((tool) => tool.name), read, failed, refused }));
