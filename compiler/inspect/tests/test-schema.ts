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
  needsField,
  nullable,
  object,
  shortText,
  text,
} from "../../schema/schema.ts";

/** Why the gateway itself answers, as the access log says it. */
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
        "The claims of a valid token. Issuer, audience and times are those that the policy asks for, unless they stand here.",
    }),
    apiKey: map(json, { description: "The metadata of a valid API key." }),
    basicAuth: shortText("A user who has logged in."),
  },
  { minProperties: 1, description: "Whose valid credentials the request has." },
);

const expectedHeaders = (whose: string) =>
  map(nullable(anyText()), {
    minProperties: 1,
    description: `Headers of ${whose} with their values; null: there is none of that name.`,
  });

const expectation = object(
  {
    allowed: boolean("Whether it gets through: to a server, or to what the route itself responds."),
    status: integer("The status of the response.", 100, 599),
    reason: choice("Why the gateway itself answers, as the access log says it.", REASONS),
    rule: text("The rule that decides, as it is written in the configuration."),
    route: text("The name of the route that the request reaches."),
    listed: names("What is listed: exactly these, in any order."),
    headers: expectedHeaders("the response"),
    contains: text("A part of the response's body."),
    backend: object(
      {
        server: text("Its address: `https://api.example.com`; of a stdio server its name."),
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
        message: '"reason" is why something is not allowed',
        field: "reason",
        holds: ({ allowed, reason }) =>
          allowed !== true ||
          reason === undefined ||
          reason === "DirectResponse" ||
          reason === "Redirect",
        cel: "!has(self.allowed) || !self.allowed || !has(self.reason) || self.reason in ['DirectResponse', 'Redirect']",
      },
      {
        message: 'what is not allowed reaches no "backend"',
        field: "backend",
        holds: ({ allowed, backend }) => allowed !== false || backend === undefined,
        cel: "!has(self.allowed) || self.allowed || !has(self.backend)",
      },
    ],
    description: "What must come out.",
  },
);

const test = object(
  {
    name: text("What the test shows, as a sentence."),
    request: text("A request: `GET https://shop.example.com/admin`, or `CONNECT HOST:PORT`.", {
      pattern: "^(?!CONNECT )[A-Z]+ https?://[^ ]+$|^CONNECT [^ /@]+:[0-9]+$",
      form: "a method and a URL, `GET https://shop.example.com/admin`, or `CONNECT api.example.com:443`",
    }),
    tool: text("An MCP tool that is called, by the name that clients use."),
    prompt: text("An MCP prompt that is asked for."),
    resource: text("The URI of an MCP resource that is read."),
    list: choice("What an MCP client lists.", ["tools", "prompts", "resources"]),
    model: text("A model that is asked, by the name that clients use."),
    era: choice(
      "Which MCP clients send it: those with sessions (revisions up to 2025-11-25), or those without (2026-07-28). By default both do, and the same must come out.",
      ["sessions", "stateless"],
    ),
    route: text("The route of an MCP or LLM request; needed where several could be meant."),
    arguments: map(json, { description: "The arguments of the tool or prompt." }),
    text: text('What the model is asked; "hello" by default.'),
    as: identities,
    from: shortText("The client's IP address.", { format: "ip", default: "127.0.0.1" }),
    headers: map(either(anyText(), list(anyText(), { minItems: 1 })), {
      description: "Headers of the request; a list is a header with several lines.",
    }),
    body: anyText({ description: "The body of the request." }),
    repeat: integer("How often it is sent; what is expected is what comes of the last.", 2, 1000),
    response: object(
      {
        status: integer("Its status.", 200, 599, { default: 200 }),
        headers: map(anyText(), { description: "Its headers." }),
        body: anyText({ description: "Its body." }),
      },
      { minProperties: 1, description: "What servers respond that are no MCP servers." },
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
        message: '"era" is about MCP: a tool, prompt, resource or list',
        field: "era",
        holds: ({ era, request, model }) =>
          era === undefined || (request === undefined && model === undefined),
        cel: "!has(self.era) || !has(self.request) && !has(self.model)",
      },
      {
        message: 'a "request" is sent to its URL: expect the "route" that it reaches',
        field: "route",
        holds: ({ request, route }) => request === undefined || route === undefined,
        cel: "!has(self.request) || !has(self.route)",
      },
      {
        message: '"listed" says what comes of "list"',
        field: "expect",
        holds: ({ list: listing, expect }) =>
          listing !== undefined || Object(expect).listed === undefined,
        cel: "has(self.list) || !has(self.expect.listed)",
      },
      {
        message: '"arguments" are those of a tool or prompt',
        field: "arguments",
        holds: (value) =>
          value.arguments === undefined || value.tool !== undefined || value.prompt !== undefined,
        cel: "!has(self.arguments) || has(self.tool) || has(self.prompt)",
      },
    ],
    description: "One request, and what must come out.",
  },
);

/** The shape of a file of tests. */
export const testFileSchema = object(
  {
    servers: map(offers, {
      description:
        "What the MCP servers of the configuration offer in these tests, by their names.",
    }),
    tests: list(test, {
      minItems: 1,
      description: "The tests, in order; none depends on another.",
    }),
  },
  { required: ["tests"] },
);

/** A file of tests. */
export type TestFile = Infer<typeof testFileSchema>;

/** One test. */
export type GatewayTest = TestFile["tests"][number];

/** What must come of one. */
export type Expectation = GatewayTest["expect"];
