// A client of the TypeScript SDK signs in: node oauth_client.mjs PACKAGE URL [CLIENT_METADATA_URL]. It writes the address for the
// browser on a line, reads the address to which the browser was sent back, and writes what it saw as JSON.
import { createInterface } from "node:readline";

const [line, url, document] = process.argv.slice(2);
const { Client } = await import(line === "1" ? "@modelcontextprotocol/sdk/client/index.js" : "@modelcontextprotocol/client");
const { StreamableHTTPClientTransport } = await import(
  line === "1" ? "@modelcontextprotocol/sdk/client/streamableHttp.js" : "@modelcontextprotocol/client"
);

const kept = {};
const provider = {
  redirectUrl: "http://localhost:4711/callback",
  clientMetadataUrl: document,
  clientMetadata: { client_name: "TypeScript", redirect_uris: ["http://localhost:4711/callback"], token_endpoint_auth_method: "none" },
  state: () => "a state",
  clientInformation: () => kept.client,
  saveClientInformation: (client) => void (kept.client = client),
  tokens: () => kept.tokens,
  saveTokens: (tokens) => void (kept.tokens = tokens),
  codeVerifier: () => kept.verifier,
  saveCodeVerifier: (verifier) => void (kept.verifier = verifier),
  discoveryState: () => kept.discovery,
  saveDiscoveryState: (discovery) => void (kept.discovery = discovery),
  redirectToAuthorization: (address) => console.log(address.href),
};
const connect = async (transport) => {
  const client = new Client({ name: "foreign", version: "1.0.0" });
  await client.connect(transport);
  return client;
};

const first = new StreamableHTTPClientTransport(new URL(url), { authProvider: provider });
try {
  await connect(first);
  throw new Error("nobody asked for a sign-in");
} catch (error) {
  if (error.constructor.name !== "UnauthorizedError") throw error;
}
const input = createInterface({ input: process.stdin });
const back = new URL((await input[Symbol.asyncIterator]().next()).value);
input.close();
await (line === "1" ? first.finishAuth(back.searchParams.get("code")) : first.finishAuth(back.searchParams));
const client = await connect(new StreamableHTTPClientTransport(new URL(url), { authProvider: provider }));
const { tools } = await client.listTools();
const before = kept.tokens.access_token;
kept.tokens = { ...kept.tokens, access_token: "oma_lost" };
const again = await connect(new StreamableHTTPClientTransport(new URL(url), { authProvider: provider }));
await again.listTools();
const refreshed = kept.tokens.access_token !== before && kept.tokens.access_token !== "oma_lost";
await client.close();
await again.close();
const { client_id: id } = kept.client ?? {};
console.log(JSON.stringify({ tools: tools.map((tool) => tool.name), scope: kept.tokens.scope, refreshed, id, state: back.searchParams.get("state") }));
process.exit(0);
