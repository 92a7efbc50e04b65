import { heading, type Page, paragraph, table } from "../page.ts";

/** The page of `gwc import`. */
export function importPage(): Page {
  return {
    title: "gwc import: another gateway's configuration as one of gwc's",
    parts: [
      paragraph(
        "It prints a configuration that `gwc check` accepts and that is read, decided and then used. What it is sure of it writes; what " +
          "somebody has to decide has a comment `DECIDE` above its line; what has no counterpart is a comment with its file and line at " +
          "the head of the new file. The last line counts what is left out. Nothing goes without a word.",
      ),
      { kind: "example", language: "sh", text: COMMANDS },
      heading("Formats"),
      ...table(
        ["`--from`", "what is read"],
        [
          ["`agentgateway`", "its local file, most of which gwc reads as it is"],
          [
            "`litellm`",
            "`config.yaml` of its proxy: models, keys, aliases, tries, time, limits, fallbacks (as groups of an `ai` backend)",
          ],
          [
            "`nginx`",
            "`nginx.conf` or a file of `conf.d`, with its includes: servers, names, TLS, locations in nginx's order, `proxy_pass`, upstreams, headers, `return`, `auth_basic`, `allow` and `deny`, `limit_req`",
          ],
          [
            "`caddy`, `caddy-json`",
            "a Caddyfile with its imports and snippets, or the JSON: sites, matchers, `reverse_proxy`, `handle`, `handle_path`, `route`, `respond`, `redir`, `header`, `basic_auth`",
          ],
          [
            "`traefik`",
            "the dynamic file (YAML), and the static one for its entry points: routers by their rules and priorities, middlewares, services",
          ],
          [
            "`kong`",
            "a declarative file: services, routes, upstreams, consumers' keys, plugins for keys, groups, addresses, limits, CORS, headers, and `ai-proxy`, `ai-proxy-advanced`, `ai-prompt-decorator`",
          ],
          [
            "`envoy-ai-gateway`",
            "manifests: `AIGatewayRoute`, `AIServiceBackend`, `BackendSecurityPolicy`, with their `Backend` and `BackendTLSPolicy`",
          ],
        ],
      ),
      paragraph(
        "Without `--from` the format is found by what is in the file, a Caddyfile by its name.",
      ),
      heading("What it never does"),
      ...table(
        ["it never", "instead"],
        [
          [
            "lets more requests through",
            "a route that would lose who may, or which requests are its, answers 503 until somebody has decided; so its requests don't reach a wider route",
          ],
          [
            "changes which route is first",
            "gwc asks the most specific route first, others the first in a list: where that differs, the route that would take requests from another one is closed",
          ],
          [
            "copies a credential",
            "keys, passwords, hashes and what stands in URLs before an `@` become variables, and comments leave them out",
          ],
          [
            "reads a format halfway",
            "a file whose grammar is not understood is refused (exit code 2) with its line",
          ],
        ],
      ),
    ],
  };
}

const COMMANDS = `gwc import /etc/nginx/nginx.conf > gateway.yaml
gwc import Caddyfile > gateway.yaml
gwc import dynamic.yaml traefik.yaml > gateway.yaml   # several files of one configuration
gwc import config.yaml --from litellm > gateway.yaml
grep DECIDE gateway.yaml`;
