/** A gateway with one route to an upstream; `route` is its name, `more` further lines of the route. */
export function gatewayText(settings: {
  /** A port of loopback, or a URL. */
  readonly upstream: number | string;
  readonly port?: number;
  readonly route?: string;
  readonly more?: string;
}): string {
  const { upstream, port = 0, route = "api", more = "" } = settings;
  return `config: {statsAddr: "127.0.0.1:0", readinessAddr: "127.0.0.1:0", adminAddr: "127.0.0.1:0"}
binds:
  - port: ${port}
    listeners:
      - routes:
          - name: ${route}
${more}            backends: [{host: "${typeof upstream === "number" ? `127.0.0.1:${upstream}` : upstream}"}]
`;
}
