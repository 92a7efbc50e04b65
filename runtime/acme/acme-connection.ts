import { readFileSync } from "node:fs";
import { Agent } from "node:https";
import { MINUTE, SECOND } from "../process/units.ts";
import { readCaCertificates } from "../tls/ca-certificates.ts";
import { AcmeProblem, retryAfterOf } from "./acme-problem.ts";
import type { AcmeRecords, StoredAccount } from "./acme-records.ts";
import { digest } from "./acme-records.ts";
import type { AcmeSettings } from "./acme-settings.ts";

/** The library; it is loaded only by the thread that orders. */
export type Acme = typeof import("acme-client");
type Client = InstanceType<Acme["Client"]>;

/** Milliseconds of one request to the server. */
const REQUEST_TIME = 30 * SECOND;
/** Maximum bytes of a response. */
const MAX_RESPONSE = 1_048_576;
/** Milliseconds by which the clock of this machine may differ from the server's. */
const MAX_SKEW = 5 * MINUTE;
/** Maximum characters of the server's words in the log. */
const MAX_DETAIL = 500;

/** A connection to an ACME server, for one order at a time. */
export class AcmeConnection {
  readonly acme: Acme;
  readonly #settings: AcmeSettings;
  readonly #records: AcmeRecords;
  readonly #last: LastResponse;

  private constructor(acme: Acme, settings: AcmeSettings, records: AcmeRecords) {
    this.acme = acme;
    this.#settings = settings;
    this.#records = records;
    this.#last = configure(acme, settings);
  }

  /** Loads the library. Throws an Error if the file of the authorities is unusable. */
  static async open(settings: AcmeSettings, records: AcmeRecords): Promise<AcmeConnection> {
    return new AcmeConnection(await import("acme-client"), settings, records);
  }

  /**
   * Works with the account of the gateway, which is registered if it is not yet. Throws an AcmeProblem if a request of the work
   * fails.
   */
  async withAccount<Result>(work: (client: Client) => Promise<Result>): Promise<Result> {
    this.#last.clear();
    try {
      const client = await this.#client();
      try {
        return await work(client);
      } catch (error) {
        // The server has forgotten the account: a test server that was restarted, or a restored backup.
        if (this.#last.type !== "accountDoesNotExist") throw error;
        const id = this.#accountId;
        const account = await this.#records.account(id);
        if (account !== undefined) await this.#records.writeAccount(id, { ...account, url: "" });
        this.#last.clear();
        return await work(await this.#client());
      }
    } catch (error) {
      throw error instanceof AcmeProblem ? error : this.#problem(error);
    }
  }

  /** Returns a member of the directory that is a URL; `undefined` if it has none. */
  async directoryUrl(member: string): Promise<string | undefined> {
    const { data } = await this.acme.axios.get<unknown>(this.#settings.directory);
    if (typeof data !== "object" || data === null || !(member in data)) return undefined;
    const url: unknown = Reflect.get(data, member);
    return typeof url === "string" ? url : undefined;
  }

  /** Type of the problem that the last response reported; `undefined` if it reported none. */
  get problemType(): string | undefined {
    return this.#last.type;
  }

  /** Returns by how many minutes the clock of this machine differs from the server's; `undefined` if it hardly does. */
  get skewMinutes(): number | undefined {
    const { skew } = this.#last;
    return Math.abs(skew) > MAX_SKEW ? Math.round(skew / MINUTE) : undefined;
  }

  get #accountId(): string {
    const { directory, externalAccount } = this.#settings;
    return digest("account", directory, externalAccount?.keyId ?? "");
  }

  async #client(): Promise<Client> {
    const { directory, email = "", externalAccount } = this.#settings;
    const id = this.#accountId;
    const stored = (await this.#records.account(id)) ?? (await this.#newAccount(id));
    const client = new this.acme.Client({
      directoryUrl: directory,
      accountKey: stored.key,
      ...(stored.url !== "" && { accountUrl: stored.url }),
      ...(externalAccount && {
        externalAccountBinding: {
          kid: externalAccount.keyId,
          hmacKey: readFileSync(externalAccount.keyFile, "utf8").trim(),
        },
      }),
      backoffAttempts: 20,
      backoffMin: SECOND,
      backoffMax: 10 * SECOND,
    });
    const contact = email === "" ? [] : [`mailto:${email}`];
    if (stored.url === "") await client.createAccount({ termsOfServiceAgreed: true, contact });
    else if (stored.email === email) return client;
    else await client.updateAccount({ contact });
    await this.#records.writeAccount(id, { ...stored, url: client.getAccountUrl(), email });
    return client;
  }

  async #newAccount(id: string): Promise<StoredAccount> {
    const key = await this.acme.crypto.createPrivateEcdsaKey();
    return this.#records.addAccount(id, { key: key.toString(), url: "", email: "" });
  }

  /** Describes an error of the library, which drops the type of a problem and the time to wait. */
  #problem(error: unknown): AcmeProblem {
    const { type, retryAfter, hasResponse } = this.#last;
    const said = (error instanceof Error ? error.message : String(error)).slice(0, MAX_DETAIL);
    if (!hasResponse) {
      const { directory } = this.#settings;
      return new AcmeProblem(`the ACME server at ${directory} can't be used: ${said}`);
    }
    const message = `the ACME server refused: ${type === undefined ? said : `${said} (${type})`}`;
    return new AcmeProblem(message, { type, retryAfter, hasResponse });
  }
}

/** State of the last responses of the server. */
class LastResponse {
  /** Whether the last request got a response. */
  hasResponse = false;
  type: string | undefined;
  retryAfter: number | undefined;
  /** Milliseconds by which the clock of this machine is ahead of the server's. */
  skew = 0;

  clear(): void {
    this.hasResponse = false;
    this.type = undefined;
    this.retryAfter = undefined;
  }

  note(status: number, headers: Readonly<Record<string, unknown>>, body: unknown): void {
    // The library repeats requests with a rejected nonce: the problem of an earlier response does not explain a later failure.
    this.clear();
    this.hasResponse = true;
    const time = Date.parse(String(headers.date));
    if (!Number.isNaN(time)) this.skew = Date.now() - time;
    if (status < 400) return;
    this.retryAfter = retryAfterOf(headers["retry-after"]);
    const type = typeof body === "object" && body !== null && "type" in body ? body.type : "";
    this.type = /^urn:ietf:params:acme:error:(\w{1,64})$/.exec(String(type))?.[1];
  }
}

/**
 * Sets how the library sends requests. Its own interceptors are removed: they wait for minutes without a word, and lose the
 * error if a server cannot be reached.
 */
function configure({ axios }: Acme, { rootFile }: AcmeSettings): LastResponse {
  const last = new LastResponse();
  axios.interceptors.request.clear();
  axios.interceptors.response.clear();
  axios.interceptors.response.use(
    (response) => {
      last.note(response.status, response.headers, response.data);
      return response;
    },
    (error: unknown) => {
      last.clear();
      throw error;
    },
  );
  Object.assign(axios.defaults, {
    timeout: REQUEST_TIME,
    maxContentLength: MAX_RESPONSE,
    ...(rootFile !== undefined && {
      httpsAgent: new Agent({ ca: [readCaCertificates(rootFile)] }),
    }),
  });
  return last;
}
