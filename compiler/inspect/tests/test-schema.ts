import type { RefusalReason } from "../../../runtime/http/exchange.ts";
import {
  anyText,
  boolean,
  choice,
  either,
  type Infer,
  integer,
  json,
  list,
  map,
  nullable,
  object,
  shortText,
  text,
} from "../../schema/schema.ts";
import { needsField } from "../../schema/value-checks.ts";

/** Reasons for responses of the gateway itself, as in the access log. */
const REASONS = [
  "NotFound",
  "Misdirected",
  "BadRequest",
  "JwtAuth",
  "Oidc",
  "BasicAuth",
  "APIKeyAuth",
  "ExtAuth",
  "Authorization",
  "ToolLock",
  "ForbiddenDestination",
  "Csrf",
  "RateLimit",
  "PromptGuard",
  "ExtProc",
  "Custom",
  "BodyTooLarge",
  "MCP",
  "DirectResponse",
  "Redirect",
  "NoHealthyBackend",
  "UpstreamFailure",
  "Timeout",
  "Internal",
] as const satisfies readonly RefusalReason[];

const names = (description: string) => list(text("A name."), { uniqueItems: true, description });

const offers = object(
  {
    tools: names("The names of its tools."),
    prompts: names("The names of its prompts."),
    resources: names("The URIs of its resources."),
  },
  { minProperties: 1, description: "What an MCP server offers." },
);

const identities = object(
  {
    jwt: map(json, {
      description:
        "The claims of a valid token. Issuer, audience and times are as the policy requires, unless given here.",
    }),
    apiKey: map(json, { description: "The metadata of a valid API key." }),
    basicAuth: shortText("The name of a logged-in user."),
  },
  { minProperties: 1, description: "Valid credentials of the request." },
);

const expectedHeaders = (whose: string) =>
  map(nullable(anyText()), {
    minProperties: 1,
    description: `Headers of ${whose} with their values; null means that the header is absent.`,
  });

const expectation = object(
  {
    allowed: boolean(
      "Whether the request gets through to a server or to the route's own response.",
    ),
    status: integer("The status of the response.", 100, 599),
    reason: choice("The reason why the gateway itself responds, as in the access log.", REASONS),
    rule: text("The deciding rule, as written in the configuration."),
    route: text("The name of the route that the request reaches.", { refersTo: ["route"] }),
    listed: names("Exactly the listed names, in any order."),
    headers: expectedHeaders("the response"),
    contains: text("A part of the response's body."),
    backend: object(
      {
        server: text("Its address: `https://api.example.com`; for a stdio server its name."),
        path: text("The path with its query."),
        headers: expectedHeaders("the request that it gets"),
        contains: text("A part of the request's body."),
      },
      { minProperties: 1, description: "The request that the backend gets." },
    ),
  },
  {
    minProperties: 1,
    checks: [
      {
        message: 'a request with a "reason" is not "allowed"',
        field: "reason",
        holds: ({ allowed, reason }) =>
          allowed !== true ||
          reason === undefined ||
          reason === "DirectResponse" ||
          reason === "Redirect",
        cel: "!has(self.allowed) || !self.allowed || !has(self.reason) || self.reason in ['DirectResponse', 'Redirect']",
      },
      {
        message: 'a request that is not "allowed" does not reach a "backend"',
        field: "backend",
        holds: ({ allowed, backend }) => allowed !== false || backend === undefined,
        cel: "!has(self.allowed) || self.allowed || !has(self.backend)",
      },
    ],
    description: "The expected outcome.",
  },
);

const test = object(
  {
    name: text("A sentence that states what the test shows."),
    request: text("A request: `GET https://shop.example.com/admin`, or `CONNECT HOST:PORT`.", {
      pattern: "^(?!CONNECT )[A-Z]+ https?://[^ ]+$|^CONNECT [^ /@]+:[0-9]+$",
      form: "a method and a URL, `GET https://shop.example.com/admin`, or `CONNECT api.example.com:443`",
    }),
    tool: text("An MCP tool to call, by the name that clients use."),
    prompt: text("An MCP prompt to get."),
    resource: text("The URI of an MCP resource to read."),
    list: choice("The items that an MCP client lists.", ["tools", "prompts", "resources"]),
    model: text("A model to call, by the name that clients use.", { refersTo: ["model"] }),
    era: choice(
      "The MCP clients that send it: with sessions (revisions up to 2025-11-25) or without (2026-07-28). By default both send it, with the same expected outcome.",
      ["sessions", "stateless"],
    ),
    route: text("The route of an MCP or LLM request; required if several routes are possible.", {
      refersTo: ["route"],
    }),
    view: shortText("The view (`views` of the MCP backend) that the client uses."),
    arguments: map(json, { description: "The arguments of the tool or prompt." }),
    text: text('The prompt for the model; "hello" by default.'),
    as: identities,
    from: shortText("The client's IP address.", { format: "ip", default: "127.0.0.1" }),
    headers: map(either(anyText(), list(anyText(), { minItems: 1 })), {
      description: "Headers of the request; a list repeats the header.",
    }),
    body: anyText({ description: "The body of the request." }),
    repeat: integer("How often the request is sent; the last response is tested.", 2, 1000),
    response: object(
      {
        status: integer("Its status.", 200, 599, { default: 200 }),
        headers: map(anyText(), { description: "Its headers." }),
        body: anyText({ description: "Its body." }),
      },
      { minProperties: 1, description: "The response of servers other than MCP servers." },
    ),
    expect: expectation,
  },
  {
    required: ["name", "expect"],
    exactlyOneOf: ["request", "tool", "prompt", "resource", "list", "model"],
    checks: [
      needsField("text", "model"),
      needsField("body", "request"),
      {
        message: '"era" requires a "tool", "prompt", "resource" or "list"',
        field: "era",
        holds: ({ era, request, model }) =>
          era === undefined || (request === undefined && model === undefined),
        cel: "!has(self.era) || !has(self.request) && !has(self.model)",
      },
      {
        message: 'a "request" has no "route": its URL selects one (use "route" in "expect")',
        field: "route",
        holds: ({ request, route }) => request === undefined || route === undefined,
        cel: "!has(self.request) || !has(self.route)",
      },
      {
        message: '"listed" requires "list"',
        field: "expect",
        holds: ({ list: listing, expect }) =>
          listing !== undefined || Object(expect).listed === undefined,
        cel: "has(self.list) || !has(self.expect.listed)",
      },
      {
        message: '"view" requires a "tool", "prompt", "resource" or "list"',
        field: "view",
        holds: ({ view, request, model }) =>
          view === undefined || (request === undefined && model === undefined),
        cel: "!has(self.view) || !has(self.request) && !has(self.model)",
      },
      {
        message: '"arguments" requires a "tool" or "prompt"',
        field: "arguments",
        holds: (value) =>
          value.arguments === undefined || value.tool !== undefined || value.prompt !== undefined,
        cel: "!has(self.arguments) || has(self.tool) || has(self.prompt)",
      },
    ],
    description: "One request and its expected outcome.",
  },
);

/** Schema of a test file. */
export const testFileSchema = object(
  {
    servers: map(offers, {
      propertyNames: { refersTo: ["server"] },
      description:
        "The items that the MCP servers of the configuration offer in these tests, by server name.",
    }),
    tests: list(test, {
      minItems: 1,
      description: "The tests, in order; they are independent of each other.",
    }),
  },
  { required: ["tests"] },
);

/** A test file. */
export type TestFile = Infer<typeof testFileSchema>;

/** One test. */
export type GatewayTest = TestFile["tests"][number];

/** The expected outcome of a test. */
export type Expectation = GatewayTest["expect"];
