import { childOf, type Origin } from "../../diagnostics/diagnostic.ts";
import { listChanges, type SettingsChange } from "../../model/access.ts";
import { parseDuration } from "../../schema/duration.ts";
import { type Infer, integer, list, object, text } from "../../schema/schema.ts";
import { bothForms, durationOfForms, formFields } from "../../schema/two-forms.ts";
import type { ResolveContext } from "../policy.ts";

/** The gateway as the authorization server of MCP clients. Times are in milliseconds. */
export interface FrontNode {
  readonly url: string;
  readonly redirectUris: readonly string[];
  /** `undefined` if any name is accepted. */
  readonly clientNames: readonly string[] | undefined;
  readonly clientDocuments: readonly string[];
  readonly registrationsPerHour: number;
  readonly registrationLifetime: number;
  readonly scopes: readonly string[];
}

/** The same, as configured. */
export interface FrontConfig extends Omit<FrontNode, "scopes"> {
  readonly origin: Origin;
  /** `undefined` for those of `resourceMetadata`. */
  readonly scopes: readonly string[] | undefined;
}

const REGISTRATIONS_PER_HOUR = 1_000;
const REGISTRATION_LIFETIME = "720h";

const url = (description: string, example: string) =>
  text(description, { maxLength: 1024, examples: [example] });

const fields = {
  url: bothForms(
    text("Public URL of the authorization server, below which the route also serves.", {
      maxLength: 1024,
      pattern: "^https?://[^/?#]+/[A-Za-z0-9/._~-]*[A-Za-z0-9._~-]$",
      form: "a URL with a path, without a slash at its end",
      examples: ["https://tools.example.com/oauth"],
    }),
  ),
  redirectURIs: bothForms(
    list(
      url(
        "A URI. A loopback URI without a port has any port (RFC 8252). `*` at the end stands for the rest of the path.",
        "http://127.0.0.1/callback",
      ),
      { minItems: 1, maxItems: 64, description: "Redirect URIs that clients may have." },
    ),
  ),
  clientNames: bothForms(
    list(
      text("A name; `*` at its end stands for any rest.", {
        maxLength: 100,
        examples: ["Claude Code*"],
      }),
      {
        minItems: 1,
        maxItems: 64,
        description: "Names that clients may have; any name by default. A name proves nothing.",
      },
    ),
  ),
  clientDocuments: bothForms(
    list(
      url(
        "A URL with https; `*` at the end stands for the rest of the path.",
        "https://client.example.com/oauth/client.json",
      ),
      {
        maxItems: 64,
        description:
          "URLs of client id metadata documents, which the gateway fetches; none by default.",
      },
    ),
  ),
  registrationsPerHour: bothForms(
    integer(
      "Maximum number of registrations (RFC 7591) that one process accepts in an hour; 0 if clients cannot register.",
      0,
      1_000_000,
      { default: REGISTRATIONS_PER_HOUR },
    ),
  ),
  registrationLifetime: durationOfForms("Time after which a client has to register again.", {
    minimumDuration: "1m",
    default: REGISTRATION_LIFETIME,
  }),
  scopes: bothForms(
    list(
      text("A scope.", {
        maxLength: 256,
        pattern: "^[\\x21\\x23-\\x5b\\x5d-\\x7e]+$",
        form: "a scope without spaces",
      }),
      {
        maxItems: 64,
        description:
          "Scopes that clients may request, and that are requested for clients that name none; by default those of `resourceMetadata`.",
      },
    ),
  ),
};

const DESCRIPTION =
  "Makes the gateway the authorization server of MCP clients, for a provider where they cannot register: they register at the gateway or name a document, users allow each client on a page, and `clientId` is the only client at the provider. " +
  "Register `URL/callback` there as its redirect URI.";

function schemaOf<Form extends "file" | "manifest">(form: Form) {
  return object(formFields(form, fields), {
    required: ["url", "redirectURIs"],
    description: DESCRIPTION,
  });
}

/** Schemas of `authorizationServer`. */
export const authorizationServer = { file: schemaOf("file"), manifest: schemaOf("manifest") };

/** Reads `authorizationServer` of either form. */
export function lowerFront(
  given: Infer<typeof authorizationServer.file>,
  origin: Origin,
): FrontConfig {
  return {
    origin,
    url: given.url,
    redirectUris: given.redirectURIs,
    clientNames: given.clientNames,
    clientDocuments: given.clientDocuments ?? [],
    registrationsPerHour: given.registrationsPerHour ?? REGISTRATIONS_PER_HOUR,
    registrationLifetime: parseDuration(given.registrationLifetime ?? REGISTRATION_LIFETIME) ?? 0,
    scopes: given.scopes,
  };
}

/** Resolves `authorizationServer`; `undefined` if there is a mistake (reported). `supported`: scopes of `resourceMetadata`. */
export function resolveFront(
  { origin, scopes, ...front }: FrontConfig,
  supported: readonly string[],
  { diagnostics }: ResolveContext,
): FrontNode | undefined {
  const { url: own, redirectUris, clientDocuments, registrationsPerHour } = front;
  const problems = [
    ...(isSafe(own) ? [] : [[childOf(origin, "url"), '"url"', SAFE_URL] as const]),
    ...redirectUris.flatMap((uri, index) =>
      isRedirect(uri)
        ? []
        : [[childOf(origin, "redirectURIs", index), "a redirect URI", REDIRECT] as const],
    ),
    ...clientDocuments.flatMap((each, index) =>
      isDocument(each)
        ? []
        : [[childOf(origin, "clientDocuments", index), "a document's URL", DOCUMENT] as const],
    ),
  ];
  for (const [at, field, expected] of problems)
    diagnostics.report("bad-format", at, { field, expected });
  if (registrationsPerHour === 0 && clientDocuments.length === 0) {
    diagnostics.report("server-without-clients", { ...origin, part: "key" }, {});
    return undefined;
  }
  return problems.length > 0 ? undefined : { ...front, scopes: scopes ?? supported };
}

const SAFE_URL = "a URL with https, or with http on this computer";
const REDIRECT =
  'a URI in the form that clients send: with https, with http on this computer, or with the scheme of a program; "*" only at its end, after the path\'s "/"';
const DOCUMENT = 'a URL with https and a path; "*" only at its end, after a "/"';

/** Returns which clients are added or removed. */
export function frontChanges(
  before: FrontNode | undefined,
  after: FrontNode | undefined,
): readonly SettingsChange[] {
  if (before === undefined && after === undefined) return [];
  const urls = (front: FrontNode | undefined) => (front === undefined ? [] : [front.url]);
  const servers = listChanges("authorization server", urls(before), urls(after), "opens");
  if (before === undefined || after === undefined) return servers;
  const names = ({ clientNames }: FrontNode) => clientNames ?? ["*"];
  const change = (what: string, old: readonly string[], now: readonly string[]) =>
    listChanges(what, old, now, "opens", covers);
  const [old, now] = [before.registrationsPerHour, after.registrationsPerHour];
  return [
    ...servers,
    ...change("redirect URI", before.redirectUris, after.redirectUris),
    ...change("client name", names(before), names(after)),
    ...change("client document", before.clientDocuments, after.clientDocuments),
    ...change("scope of clients", before.scopes, after.scopes),
    ...(old === now
      ? []
      : [
          {
            direction: now > old ? ("opens" as const) : ("closes" as const),
            text: `${now} registrations of clients per hour, not ${old}`,
          },
        ]),
  ];
}

/** Returns the other settings. */
export function restOfFront(front: FrontNode | undefined): unknown {
  return front?.registrationLifetime;
}

function covers(wide: string, narrow: string): boolean {
  return wide === narrow || (wide.endsWith("*") && narrow.startsWith(wide.slice(0, -1)));
}

const LOOPBACK = /^http:\/\/(?:127\.0\.0\.1|\[::1\]|localhost)(?=[:/]|$)/;

/** Schemes that are not those of a program that a user has installed. */
const FOREIGN_SCHEMES: ReadonlySet<string> = new Set([
  ...["about:", "blob:", "data:", "file:", "filesystem:", "ftp:", "http:", "javascript:"],
  ...["mailto:", "tel:", "vbscript:", "view-source:", "ws:", "wss:"],
]);

function isSafe(text: string): boolean {
  return text.startsWith("https://") || LOOPBACK.test(text);
}

/** Whether a redirect URI is one that a request can have: in the form in which every parser writes it, with a host. */
function isRedirect(text: string): boolean {
  const uri = withoutRest(text);
  if (!isCanonical(uri)) return false;
  const { protocol, host } = new URL(uri);
  if (host === "") return false;
  return protocol === "https:" || LOOPBACK.test(uri) || !FOREIGN_SCHEMES.has(protocol);
}

function isDocument(text: string): boolean {
  const uri = withoutRest(text);
  return isCanonical(uri) && uri.startsWith("https://") && new URL(text).pathname !== "/";
}

/** Returns a pattern without the `*` of its path. Another `*` remains, and is refused. */
function withoutRest(text: string): string {
  return /^[a-z][a-z0-9+.-]*:\/\/[^/]+\/(?:.*\/)?\*$/.test(text) ? text.slice(0, -1) : text;
}

function isCanonical(text: string): boolean {
  if (!/^[a-z][!$&-)+-;=?-[\]_a-z~%]*$/.test(text) || !URL.canParse(text)) return false;
  const { href, username, password } = new URL(text);
  return username + password === "" && [text, `${text}/`].includes(href);
}
