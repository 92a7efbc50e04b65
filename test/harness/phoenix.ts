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

/** Traces as Phoenix adds them up. */
export interface PhoenixProject {
  readonly traceCount: number;
  readonly tokenCountTotal: number;
  readonly spans: readonly PhoenixSpan[];
}

const QUERY = `{ projects { edges { node {
  traceCount tokenCountTotal
  spans(first: 1000) { edges { node {
    parentId spanKind tokenCountPrompt tokenCountCompletion costSummary { total { cost } } attributes
  } } }
} } } }`;

/** A Phoenix (arize-phoenix) with an empty database. */
export class Phoenix {
  /** Where it receives spans over gRPC. */
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

  /** Returns the project of all spans, once a look at it finds what it waits for. */
  async project(isComplete: (project: PhoenixProject) => boolean): Promise<PhoenixProject> {
    return eventually(async () => {
      const response = await fetch(`${this.#url}/graphql`, {
        method: "POST",
        headers: { "content-type": "application/json" },
        body: JSON.stringify({ query: QUERY }),
      });
      const { data }: { readonly data: Answer } = JSON.parse(await response.text());
      const [{ node } = emptyEdge] = data.projects.edges;
      const project = { ...node, spans: node.spans.edges.map((edge) => edge.node) };
      return isComplete(project) ? project : null;
    }, "the spans in Phoenix");
  }
}

type Answer = {
  readonly projects: Edges<Omit<PhoenixProject, "spans"> & { readonly spans: Edges<PhoenixSpan> }>;
};

interface Edges<Node> {
  readonly edges: readonly { readonly node: Node }[];
}

const emptyEdge = { node: { traceCount: 0, tokenCountTotal: 0, spans: { edges: [] } } };
