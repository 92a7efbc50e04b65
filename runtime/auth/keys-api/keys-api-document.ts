import type { JsonObject } from "../../cel/variables.ts";

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const json = (schema: JsonObject) => ({ content: { "application/json": { schema } } });
const problem = (description: string) => ({ description, ...json(ref("Problem")) });

/** Responses that every request may get. */
const REFUSALS = {
  401: problem("The key or token for this API is absent or wrong."),
  403: problem("The rule of `config.keysApi.jwt` denies this request to the holder of the token."),
  429: problem("Too many wrong keys or tokens from this address; see Retry-After."),
  503: problem("The store does not respond, or tokens cannot be verified now."),
};

const name = {
  name: "name",
  in: "path",
  required: true,
  description: "Name of the key, whose slashes stay as they are.",
  schema: { type: "string" },
};

const choices = {
  metadata: {
    type: "object",
    description: "Attributes of the holder, which rules read as `apiKey`. It has no `name`.",
  },
  models: {
    type: ["array", "null"],
    items: { type: "string" },
    description: "Models that the holder may use, each with at most one `*`; null for all.",
  },
  limits: { type: "array", maxItems: 8, items: ref("Limit") },
  expires: { type: ["string", "null"], format: "date-time", description: "null for never." },
};

/** OpenAPI document of the API for keys. */
export const keysApiDocument: JsonObject = {
  openapi: "3.1.0",
  info: {
    title: "Keys of a gwc gateway",
    version: "1",
    description:
      "Makes, lists, changes and revokes API keys of a gateway with `config.keysApi`. A key is only shown when it is made.",
  },
  security: [{ key: [] }, { token: [] }],
  paths: {
    "/v1/keys": {
      get: {
        operationId: "listKeys",
        summary: "Lists all keys.",
        responses: {
          200: {
            description: "The keys, by name.",
            ...json({
              type: "object",
              required: ["keys", "unreadable"],
              properties: {
                keys: { type: "array", items: ref("Key") },
                unreadable: { type: "integer", description: "Records that are no keys." },
              },
            }),
          },
          ...REFUSALS,
        },
      },
      post: {
        operationId: "createKey",
        summary: "Makes a key.",
        requestBody: {
          required: true,
          ...json({
            type: "object",
            required: ["name"],
            additionalProperties: false,
            properties: { name: { type: "string", maxLength: 128 }, ...choices },
          }),
        },
        responses: {
          201: { description: "The key, which is not shown again.", ...json(ref("NewKey")) },
          400: problem("The request is invalid."),
          409: problem("There is a key with this name."),
          ...REFUSALS,
        },
      },
    },
    "/v1/keys/{name}": {
      parameters: [name],
      get: {
        operationId: "showKey",
        summary: "Shows a key.",
        responses: {
          200: { description: "The key.", ...json(ref("Key")) },
          404: problem("There is no such key."),
          ...REFUSALS,
        },
      },
      patch: {
        operationId: "updateKey",
        summary: "Changes a key; absent members stay as they are.",
        requestBody: {
          required: true,
          ...json({ type: "object", additionalProperties: false, properties: choices }),
        },
        responses: {
          200: { description: "The changed key.", ...json(ref("Key")) },
          400: problem("The request is invalid."),
          404: problem("There is no such key."),
          409: problem("Another process has just changed the key."),
          ...REFUSALS,
        },
      },
      delete: {
        operationId: "revokeKey",
        summary: "Revokes a key on all replicas, within a second.",
        responses: {
          200: {
            description: "Number of keys that ended: rotated ones end, too.",
            ...json({ type: "object", properties: { revoked: { type: "integer" } } }),
          },
          404: problem("There is no such key."),
          ...REFUSALS,
        },
      },
    },
    "/v1/keys/{name}:rotate": {
      parameters: [name],
      post: {
        operationId: "rotateKey",
        summary: "Makes a new key; the old one stays valid for a while.",
        requestBody: {
          ...json({
            type: "object",
            additionalProperties: false,
            properties: {
              overlapSeconds: { type: "number", minimum: 0, maximum: 31_536_000, default: 86_400 },
            },
          }),
        },
        responses: {
          200: { description: "The new key, which is not shown again.", ...json(ref("NewKey")) },
          400: problem("The request is invalid."),
          404: problem("There is no such key."),
          409: problem("Another process has just changed the key."),
          ...REFUSALS,
        },
      },
    },
  },
  components: {
    securitySchemes: {
      key: { type: "http", scheme: "bearer", description: "The key of `config.keysApi.key`." },
      token: {
        type: "http",
        scheme: "bearer",
        bearerFormat: "JWT",
        description: "A token of the issuer in `config.keysApi.jwt`.",
      },
    },
    schemas: {
      Limit: {
        type: "object",
        required: ["counts", "amount", "period"],
        properties: {
          counts: { enum: ["requests", "tokens", "cost"], description: "Costs are in US dollars." },
          amount: { type: "number", exclusiveMinimum: 0 },
          period: { enum: ["second", "minute", "hour", "day", "month"] },
        },
      },
      Key: {
        type: "object",
        required: ["name", "shown", "created", "replaced", ...Object.keys(choices)],
        properties: {
          name: { type: "string" },
          shown: { type: "string", description: "First characters of the key." },
          ...choices,
          created: { type: "string", format: "date-time" },
          replaced: { type: "boolean", description: "Whether a rotation replaced it." },
        },
      },
      NewKey: {
        allOf: [
          ref("Key"),
          { type: "object", required: ["key"], properties: { key: { type: "string" } } },
        ],
      },
      Problem: {
        type: "object",
        required: ["error"],
        properties: {
          error: {
            type: "object",
            required: ["status", "message"],
            properties: { status: { type: "integer" }, message: { type: "string" } },
          },
        },
      },
    },
  },
};
