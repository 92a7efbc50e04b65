import { heading, type Page, paragraph, table } from "../page.ts";

/** The page of `gwc lock`. */
export function lockPage(): Page {
  return {
    title: "gwc lock: tools and prompts say what was reviewed, or are not there",
    parts: [
      paragraph(
        "What a tool, a prompt or a resource says of itself, and what a server tells clients of its use, goes into the prompt of whoever uses it, and a server may say something " +
          "else tomorrow. With a lock, clients are shown, and can use, only what was approved, in the words in which it was.",
      ),
      { kind: "example", language: "sh", text: COMMANDS },
      paragraph("The lock counts from the build on when a backend names it:"),
      { kind: "example", language: "yaml", text: CONFIGURATION },
      paragraph(
        "Of manifests the lock is an entry `gwc.lock.yaml` of a ConfigMap in the namespace of the GatewayBackend, and is built in as a " +
          "file is. `gwc lock` writes it where it stands, else into `NAME.configmap.yaml` beside the manifests:",
      ),
      { kind: "example", language: "yaml", text: MANIFEST },
      paragraph(
        "A controller reads the ConfigMap in the cluster, and compiles the gateways anew when it changes: what is approved is what was " +
          "applied. It asks no server by itself. A GatewayBackend whose lock is missing or no lock is not accepted, and its status says why. `gwc lock` has to reach " +
          "the servers by the addresses in the manifests: for those of a cluster it runs there, in a Job for example.",
      ),
      heading("What is in it"),
      paragraph(
        "For each server (its name, and its address or command) each tool, prompt, resource and resource template, with the first " +
          "words of its description and a digest of each part of its definition: title, description, a tool's inputSchema and " +
          "outputSchema, a prompt's arguments, a resource's name and mimeType, annotations, and `other` for all else but what a " +
          "tool says of tasks, and a resource of its size and when it was written. Characters that nobody sees (control, zero width, bidirectional, tags) are written out, as " +
          "`\\u{200b}`, and counted under `hidden`. The text of the server's `instructions` stands there in the same way. The order of keys does not matter. A key that is there twice does: such an item is withheld.",
      ),
      heading("What the gateway does"),
      ...table(
        ["when", "what happens"],
        [
          [
            "a client lists tools, prompts, resources or templates",
            "what is not in the lock, or differs from it, is left out",
          ],
          [
            "a client opens a session, or asks what a server offers (`server/discover`)",
            "instructions that are not in the lock, or differ from it, are left out",
          ],
          [
            "a client calls a tool, gets a prompt, reads or subscribes to a resource, or asks to complete an argument",
            "its server has been asked for that list within the last 10 seconds and has told of no change since, else it is asked first; what is withheld is unknown to the client, and its server never sees the request",
          ],
          [
            "a client reads a resource that is not in the lock",
            "one of the locked templates must be able to have made its URI, and be as it was locked",
          ],
          [
            "a server does not list what is asked for",
            "no request for it passes: the client gets an error, and the log says why",
          ],
          [
            "somebody wants to know",
            "the log has the reason ToolLock and what differs, and `gwc_mcp_messages_total` the outcome tool_lock; the first time, the gateway warns",
          ],
        ],
      ),
      paragraph(
        "Whether an item is shown to a client is still for `mcpAuthorization` to say. Each client's own list counts, as servers show " +
          "different items to different clients. Between two looks a server can change one without telling: what a client has been shown was approved all the same. What a resource or the result of a call holds is no part of a lock, nor is a server's own name and version.",
      ),
      heading("When an item changes"),
      paragraph(
        "`gwc lock` prints what has changed and ends with 1, so it can run in CI; `gwc lock --update` approves it, and `gwc diff` shows " +
          "that in the pull request as what it is: `OPENS ... tool echo approved anew, description changed`.",
      ),
    ],
  };
}

const COMMANDS = `gwc lock            # asks the servers, writes gwc.lock.yaml; later: says what has changed
gwc lock --check    # in CI: 1 when a server offers something else, or there is no lock
gwc lock --update   # approves it`;

const MANIFEST = `apiVersion: gwc.dev/v1alpha1
kind: GatewayBackend
metadata:
  name: tools
spec:
  mcp:
    toolLock: {name: tools-lock}
    targets:
      - name: files
        static: {host: mcp.internal, port: 8080}`;

const CONFIGURATION = `mcp:
  toolLock: gwc.lock.yaml
  targets:
    - name: files
      stdio: { cmd: npx, args: ["-y", "@scope/server@1.0.0"] }`;
