import { send } from "./send.ts";

/** The state of a browser after it went to a page. */
export interface Page {
  readonly url: string;
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: string;
}

/** A browser as far as cookies and redirects go. */
export class UserAgent {
  /** By origin. */
  readonly #jars = new Map<string, Map<string, string>>();

  /** The cookies of a server. */
  cookies(url: string): Map<string, string> {
    const { origin } = new URL(url);
    const jar = this.#jars.get(origin) ?? new Map();
    this.#jars.set(origin, jar);
    return jar;
  }

  /** One request, whose redirect is not followed. */
  async ask(
    url: string,
    { method = "GET", headers = {}, body }: Asked = {},
  ): Promise<Page & { readonly location: string | undefined }> {
    const jar = this.cookies(url);
    const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
    const all = { accept: "text/html", ...(cookie !== "" && { cookie }), ...headers };
    const response = await send(url, method, all, body);
    for (const each of [response.headers["set-cookie"] ?? []].flat()) {
      const [pair = "", ...attributes] = each.split("; ");
      const name = pair.slice(0, pair.indexOf("="));
      const isGone = attributes.some((text) => /^max-age=0$|^expires=.*1970/i.test(text));
      if (isGone) jar.delete(name);
      else jar.set(name, pair.slice(name.length + 1));
    }
    const { location } = response.headers;
    const next = typeof location === "string" ? new URL(location, url).href : undefined;
    return { url, ...response, location: next };
  }

  /** Goes to a page, wherever that leads. */
  async open(url: string, asked: Asked = {}): Promise<Page> {
    let page = await this.ask(url, asked);
    for (let hops = 0; page.location !== undefined; hops += 1) {
      if (hops > 20) throw new Error(`redirected without end: ${page.location}`);
      page = await this.ask(page.location);
    }
    return page;
  }

  /** Goes to a page where one has to log in, and does. */
  async logIn(url: string, name: string): Promise<Page> {
    const form = await this.open(url);
    return this.submit(form, name);
  }

  /** Fills in the form of the provider. */
  submit(form: Page, name: string): Promise<Page> {
    const headers = { "content-type": "application/x-www-form-urlencoded" };
    return this.open(form.url, { method: "POST", headers, body: `login=${name}` });
  }
}

interface Asked {
  readonly method?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}
