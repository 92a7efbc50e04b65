import type { ApiIds, IdNames, IdRule } from "./object-ids.ts";
import { RESPONSE_ITEM } from "./stored-ids.ts";

/** Start of an escape: written with escapes, a member may have any name. */
const ESCAPE = "\\u";

/** Fields of the client, and schemas, in which nothing is an id. */
const OWN_FIELDS = [
  "metadata",
  "client_metadata",
  "attributes",
  "parameters",
  "schema",
  "input_schema",
] as const;

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

const CONVERSATION: readonly IdRule[] = [{ kind: "conv_" }];

/** An item that a request has itself, with an id. */
const COPIED: IdRule = { kind: RESPONSE_ITEM, isCopy: true };

const GIVEN_ITEM: readonly IdRule[] = [{ kind: RESPONSE_ITEM }];

/** Stored responses and their items, in requests. */
const NAMED_RESPONSES: IdNames["members"] = {
  previous_response_id: RESPONSE,
  conversation: CONVERSATION,
  "conversation.id": CONVERSATION,
  "input.id": [{ kind: RESPONSE_ITEM, types: /^item_reference$/ }, COPIED],
  approval_request_id: [COPIED],
};

/** Words of which each request has one that names a stored response, or an item. */
const NAMED_WORDS = ["previous_response_id", "conversation", '"id"', "approval_request_id", ESCAPE];

/** Responses that OpenAI stores and their items, in responses. */
const GIVEN_RESPONSES: IdNames["members"] = {
  id: [{ kind: "resp_", types: /^response(?:\.|$)/ }],
  previous_response_id: RESPONSE,
  ...Object.fromEntries(
    ["output.id", "item.id", "data.id"].map((member) => [member, GIVEN_ITEM] as const),
  ),
  ...{ item_id: GIVEN_ITEM, first_id: GIVEN_ITEM, last_id: GIVEN_ITEM },
  approval_request_id: GIVEN_ITEM,
};

/** Words of which each response, list and event has one whose ids are given. */
const GIVEN_WORDS = [
  ...['"response"', '"response.deleted"', '"response.compaction"', '"list"'],
  ...['"item"', '"item_id"'],
];

/** Citations name what the provider has given; the model may have found it in a store of the operator. */
const CITED = { types: /_citation$|^file_path$/, isQuoted: true } as const;

const CONTAINER: readonly IdRule[] = [{ kind: "cntr_", ...CITED }, { kind: "cntr_" }];

/** Containers in requests and responses. */
const CONTAINERS: IdNames["members"] = { container: CONTAINER, container_id: CONTAINER };

/** Responses and containers of OpenAI's Responses API. */
export const OPENAI_RESPONSES: ApiIds = {
  requests: {
    members: { ...NAMED_RESPONSES, ...CONTAINERS },
    otherMembers: new Set(OWN_FIELDS),
    words: [...NAMED_WORDS, "container"],
  },
  responses: {
    members: { ...GIVEN_RESPONSES, ...CONTAINERS },
    otherMembers: new Set(OWN_FIELDS),
    words: [...GIVEN_WORDS, '"container'],
    isDueTo: (request) => isStored(request) || RUNS_PROGRAMS.test(request),
  },
};

/** The same, and files. */
export const OPENAI_OBJECTS: ApiIds = {
  ...OPENAI_RESPONSES,
  requests: {
    members: {
      ...{ ...NAMED_RESPONSES, ...CONTAINERS },
      file_id: [{ kind: "file-", ...CITED }, ...OPENAI_FILE],
      file_ids: OPENAI_FILE,
    },
    otherMembers: new Set([...OWN_FIELDS, "results"]),
    words: [...NAMED_WORDS, "container", "file_id"],
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
