/** Names that are kept by the method of their requests. */
const MAX_METHODS = 16;

/** The names of the spans of requests: one text for all spans that have the same. */
export class SpanNames {
  readonly #byRoute = new Map<string, Map<string, string>>();

  /** `GET /items/*`; of a request without a route its method. */
  of(method: string, route: string | undefined): string {
    if (route === undefined) return method;
    let names = this.#byRoute.get(route);
    if (names === undefined) {
      names = new Map();
      this.#byRoute.set(route, names);
    }
    const known = names.get(method);
    if (known !== undefined) return known;
    const name = `${method} ${route}`;
    if (names.size < MAX_METHODS) names.set(method, name);
    return name;
  }
}
