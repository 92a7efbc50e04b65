import { backends } from "../../backends/index.ts";
import { exampleText } from "./example.ts";
import { fieldTable } from "./fields.ts";
import { type Page, paragraph, table } from "./page.ts";

/** The page of a kind of backend; undefined when there is none of that name. */
export function backendPage(name: string): Page | undefined {
  const backend = backends.find(({ kind }) => kind === name);
  if (backend === undefined) return undefined;
  const { kind, summary, kubernetes, tcpSchema } = backend;
  const schema = backend.schema(OWN_POLICIES);
  const field = kubernetes && ` In a GatewayBackend it is \`${kubernetes.field}\`.`;
  const streams = tcpSchema && " It takes connections too.";
  return {
    title: kind,
    parts: [
      paragraph(`It ${summary}.`),
      paragraph(
        `It stands in \`backends\` of a route.${backend.isNameable === true ? " A backend of the file with a name may be one." : ""}${field ?? ""}${streams ?? ""}`,
      ),
      { kind: "example", language: "yaml", text: exampleText(kind, schema) },
      ...(schema.properties === undefined && schema.description !== undefined
        ? [paragraph(`Its value: ${schema.description}`)]
        : fieldTable(schema)),
    ],
  };
}

/** What a server says of how it is reached is the same in every place, and in the schema of the file. */
const OWN_POLICIES = { description: "How this server is reached; over what the route says." };

/** The pages of all kinds of backends, behind one that says what they are. */
export function backendPages(): readonly Page[] {
  const introduction: Page = {
    title: "Backends",
    parts: [
      paragraph(
        "Where requests go. A backend that no route has is not in the bundle. `gwc explain NAME` prints the page of one.",
      ),
      ...table(
        ["backend", "what it does"],
        backends.map(({ kind, summary }) => [`\`${kind}\``, summary]),
      ),
    ],
  };
  return [introduction, ...backends.flatMap(({ kind }) => backendPage(kind) ?? [])];
}
