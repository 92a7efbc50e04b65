import type { ApiIds, IdNames, IdRule } from "./object-ids.ts";

/** Start of an escape: written with escapes, a member may have any name. */
const ESCAPE = "\\u";

/** Fields of the client, and schemas, in which nothing is an id. */
const OWN_FIELDS = ["metadata", "client_metadata", "attributes", "parameters", "schema"] as const;

const OPENAI_FILE: readonly IdRule[] = [{ kind: "file-" }];

/** Files of OpenAI in chat completions. */
export const OPENAI_FILES: ApiIds = {
  requests: {
    members: { file_id: OPENAI_FILE, file_ids: OPENAI_FILE },
    otherMembers: new Set([...OWN_FIELDS, "annotations"]),
    words: ["file_id", ESCAPE],
  },
};

const RESPONSE: readonly IdRule[] = [{ kind: "resp_" }];

/** Responses that OpenAI stores, in responses. */
const GIVEN_RESPONSES: IdNames["members"] = {
  id: [{ kind: "resp_", types: /^response(?:\.|$)/ }],
  previous_response_id: RESPONSE,
};

/** Words of which each response has one whose id is given. Events of pieces do not have them. */
const GIVEN_WORDS = ['"response"', '"response.deleted"', '"response.compaction"'];

/** Responses of OpenAI's Responses API. */
export const OPENAI_RESPONSES: ApiIds = {
  requests: {
    members: { previous_response_id: RESPONSE },
    otherMembers: new Set(OWN_FIELDS),
    words: ["previous_response_id", ESCAPE],
  },
  responses: {
    members: GIVEN_RESPONSES,
    otherMembers: new Set(OWN_FIELDS),
    words: GIVEN_WORDS,
    isDueTo: isStored,
  },
};

/** Citations name what the provider has given; the model may have found it in a store of the operator. */
const CITED = { types: /_citation$|^file_path$/, isQuoted: true } as const;

const CONTAINER: readonly IdRule[] = [{ kind: "cntr_", ...CITED }, { kind: "cntr_" }];

/** Responses, files and containers of OpenAI's Responses API. */
export const OPENAI_OBJECTS: ApiIds = {
  requests: {
    members: {
      file_id: [{ kind: "file-", ...CITED }, ...OPENAI_FILE],
      file_ids: OPENAI_FILE,
      container: CONTAINER,
      container_id: CONTAINER,
      previous_response_id: RESPONSE,
    },
    otherMembers: new Set([...OWN_FIELDS, "results"]),
    words: ["file_id", "container", "previous_response_id", ESCAPE],
  },
  responses: {
    members: { ...GIVEN_RESPONSES, container: CONTAINER, container_id: CONTAINER },
    otherMembers: new Set(OWN_FIELDS),
    words: [...GIVEN_WORDS, '"container'],
    isDueTo: (request) => isStored(request) || RUNS_PROGRAMS.test(request),
  },
};

/** Matches requests whose response may name a container. A prompt that the provider stores may have tools. */
const RUNS_PROGRAMS = /code_interpreter|shell|"prompt"/;

/** Whether OpenAI stores the response to a request, which is its default. */
function isStored(request: string): boolean {
  return !/"store"\s*:\s*false/.test(request);
}

const ANTHROPIC_FILE: readonly IdRule[] = [{ kind: "file_" }];

const WRITTEN_FILE: IdRule = { kind: "file_", types: /_output$/, isQuoted: true };

const ANTHROPIC_CONTAINER: readonly IdRule[] = [{ kind: "container_" }];

/** Inputs and schemas of tools, and fields of the client. */
const INPUTS = new Set(["input", "input_schema", "input_examples", "schema", "metadata"]);

/** Files of Anthropic, the files that programs of Claude write, and the containers in which they run. */
export const ANTHROPIC_OBJECTS: ApiIds = {
  requests: {
    members: {
      file_id: [WRITTEN_FILE, ...ANTHROPIC_FILE],
      file_ids: ANTHROPIC_FILE,
      container: ANTHROPIC_CONTAINER,
      "container.id": ANTHROPIC_CONTAINER,
    },
    otherMembers: INPUTS,
    words: ["file_id", "container", ESCAPE],
  },
  responses: {
    members: { file_id: [WRITTEN_FILE], "container.id": ANTHROPIC_CONTAINER },
    otherMembers: INPUTS,
    words: ["file_id", '"container"'],
    isDueTo: (request) => request.includes("code_execution"),
  },
};
