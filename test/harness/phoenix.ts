import { eventually } from "./eventually.ts";
import { freePort } from "./free-port.ts";
import { pause } from "./pause.ts";
import { temporaryFolder } from "./temporary-folder.ts";
import { TestProcess } from "./test-process.ts";
import { program } from "./tool.ts";

/** A span as Phoenix shows it. */
export interface PhoenixSpan {
  readonly parentId: string | null;
  readonly spanKind: string;
  readonly tokenCountPrompt: number | null;
  readonly tokenCountCompletion: number | null;
  /** US dollars by Phoenix's own prices; `null` if the model has none. */
  readonly costSummary: { readonly total: { readonly cost: number | null } } | null;
  /** Attributes in OpenInference's names, as JSON. */
  readonly attributes: string;
}

const QUERY = `{ projects { edges { node {
  spans(first: 1000) { edges { node {
    parentId spanKind tokenCountPrompt tokenCountCompletion costSummary { total { cost } } attributes
  } } }
} } } }`;

/** A Phoenix (arize-phoenix) with an empty database. */
export class Phoenix {
  /** Address (`host:port`) that receives spans over gRPC. */
  readonly collector: string;
  readonly #url: string;

  private constructor(port: number, grpcPort: number) {
    this.#url = `http://127.0.0.1:${port}`;
    this.collector = `127.0.0.1:${grpcPort}`;
  }

  static async start(): Promise<Phoenix> {
    const [port, grpcPort] = [await freePort(), await freePort()];
    const server = new TestProcess(program("phoenix"), ["serve"], {
      env: {
        PHOENIX_HOST: "127.0.0.1",
        PHOENIX_PORT: String(port),
        PHOENIX_GRPC_PORT: String(grpcPort),
        PHOENIX_WORKING_DIR: temporaryFolder(),
        PHOENIX_TELEMETRY_ENABLED: "false",
      },
    });
    // It creates many tables first.
    while (!server.output.includes("Uvicorn running")) {
      if (server.hasEnded) throw new Error(server.output);
      await pause(500);
    }
    return new Phoenix(port, grpcPort);
  }

  /** Returns all spans, once they are what the caller waits for. */
  async spans(
    isComplete: (spans: readonly PhoenixSpan[]) => boolean,
  ): Promise<readonly PhoenixSpan[]> {
    return eventually(async () => {
      const response = await fetch(`${this.#url}/graphql`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ query: QUERY }),
      });
      const { data }: { readonly data: Found } = JSON.parse(await response.text());
      const spans = data.projects.edges.flatMap(({ node }) =>
        node.spans.edges.map((edge) => edge.node),
      );
      return isComplete(spans) ? spans : null;
    }, "the spans in Phoenix");
  }
}

interface Found {
  readonly projects: Edges<{ readonly spans: Edges<PhoenixSpan> }>;
}

interface Edges<Node> {
  readonly edges: readonly { readonly node: Node }[];
}
