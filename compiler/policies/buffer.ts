import { byteCount, choice, type Infer, object } from "../schema/schema.ts";
import type { Policy } from "./policy.ts";

/** How bodies of one direction are buffered. */
interface BufferedBody {
  /** Maximum number of bytes; `undefined` for the gateway's `maxBufferSize`. */
  readonly maxBytes: number | undefined;
  /** Whether a larger body is streamed instead of refused. */
  readonly streamsLarger: boolean;
}

/** `buffer` as configured. */
interface BufferConfig {
  readonly request: BufferedBody | undefined;
  readonly response: BufferedBody | undefined;
}

/** Maximum of a number of bytes: 32 bits. */
const MAX_BYTES = 4_294_967_295;

/** Returns the schema of a form; `closed` and `open` are its words for the failure modes. */
function bufferSchema<const Closed extends string, const Open extends string>(
  closed: Closed,
  open: Open,
) {
  const body = (what: string, refusal: string) =>
    object(
      {
        maxBytes: byteCount(
          `Maximum number of bytes; by default \`maxBufferSize\` of the gateway (2 MiB, and 32 MiB for models).`,
          1,
          MAX_BYTES,
        ),
        failureMode: choice(
          `Outcome for a larger body: \`${closed}\` answers ${refusal}, \`${open}\` streams it after its buffered beginning.`,
          [closed, open],
          { default: closed },
        ),
      },
      { description: `Buffers the body of ${what}.` },
    );
  return object(
    {
      request: body("a request before it is forwarded", "413"),
      response: body("a response before it is sent", "502"),
    },
    {
      atLeastOneOf: ["request", "response"],
      description: "Buffers bodies until they are complete, instead of streaming them.",
      examples: [{ request: { maxBytes: 1_048_576 } }],
    },
  );
}

const schema = bufferSchema("failClosed", "failOpen");

const kubernetesSchema = bufferSchema("FailClosed", "FailOpen");

/** Buffers whole bodies, so that slow clients do not occupy servers. */
export const buffer: Policy<
  "buffer",
  BufferConfig,
  BufferConfig,
  Infer<typeof schema>,
  Infer<typeof kubernetesSchema>
> = {
  kind: "buffer",
  summary: "buffers bodies of requests and responses until they are complete",
  scope: ["route"],
  traits: {
    actsOn: ["forwards", "llmCalls"],
  },
  schema,
  names: [],
  lowering: {
    merge: "replace",
    lower: lowerBuffer,
    resolve: (config) => config,
  },
  kubernetes: {
    field: "traffic.buffer",
    schema: kubernetesSchema,
    lower: lowerBuffer,
  },
};

interface BodyValue {
  readonly maxBytes?: number;
  readonly failureMode?: string;
}

function lowerBuffer({
  request,
  response,
}: {
  readonly request?: BodyValue;
  readonly response?: BodyValue;
}): BufferConfig {
  return { request: request && lowerBody(request), response: response && lowerBody(response) };
}

function lowerBody({ maxBytes, failureMode }: BodyValue): BufferedBody {
  return { maxBytes, streamsLarger: /open$/i.test(failureMode ?? "") };
}
