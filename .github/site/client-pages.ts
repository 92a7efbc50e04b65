import { anchorOf, type SitePage, siteText } from "./site-text.ts";

/** The guide whose sections become pages. */
export const CLIENTS = ".github/guides/agents.md";

/** Heading of the table with a row for each MCP client. */
const MCP = "MCP clients";

/** Returns a page for each client of the guide about agents, with its way to reach tools, and one that lists them. */
export function clientPages(guide: string): readonly SitePage[] {
  const [introduction = "", ...sections] = guide.split(/^## /m);
  const clients = sections.map((section) => {
    const [title = "", ...lines] = section.split("\n");
    return { title, slug: anchorOf(title), text: lines.join("\n").trim() };
  });
  const tools = clients.find(({ title }) => title === MCP)?.text ?? "";
  const pages = clients.map(({ title, slug, text }) => {
    const command = commandOf(title, tools);
    const mcp = command === undefined ? "" : `\n\n## Call tools\n\n${command}\n\n${MCP_NOTE}`;
    const own = siteText(`# ${title}\n\n${text}${mcp}\n\n${NEXT}`, CLIENTS);
    return { path: `clients/${slug}.md`, text: `${own}\n` };
  });
  const list = clients.map(({ title, slug }) => `- [${title}](/clients/${slug}.md)`).join("\n");
  const index = siteText(`${introduction.trim()}\n\n## Clients\n\n${list}`, CLIENTS);
  return [{ path: "clients/index.md", text: `${index}\n` }, ...pages];
}

const NEXT = "The gateway of this page is in the [overview](/clients/index.md).";
const MCP_NOTE =
  "The address is that of an `mcp` section with `port: 3000`. [MCP clients](/clients/mcp-clients.md) has logins and keys.";

/** Returns the cell of the client in the table of MCP clients. */
function commandOf(title: string, table: string): string | undefined {
  const row = table.split("\n").find((line) => line.startsWith(`| ${title} |`));
  return row?.split(" | ")[1]?.replace(/ \|$/, "");
}
