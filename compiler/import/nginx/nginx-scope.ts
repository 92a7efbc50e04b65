import type { Directive, TakenDirectives } from "../directives/directive.ts";

/** A block of nginx and its enclosing blocks, from which it inherits directives. */
export class NginxScope {
  readonly directives: readonly Directive[];
  readonly #above: NginxScope | undefined;
  readonly #taken: TakenDirectives;

  constructor(
    directives: readonly Directive[],
    above: NginxScope | undefined,
    taken: TakenDirectives,
  ) {
    this.directives = directives;
    this.#above = above;
    this.#taken = taken;
  }

  /** Returns the directives of the names in the innermost block that has any, and marks them as converted. */
  all(...names: readonly string[]): readonly Directive[] {
    const own = this.own(...names);
    return own.length > 0 ? own : (this.#above?.all(...names) ?? []);
  }

  /** Returns the last directive of a name. */
  one(name: string): Directive | undefined {
    return this.all(name).at(-1);
  }

  /** Returns the argument of a directive that has exactly one. */
  word(name: string): string | undefined {
    const { words } = this.one(name) ?? {};
    return words?.length === 1 ? words[0] : undefined;
  }

  /** Returns the directives of the names in this block only, and marks them as converted. */
  own(...names: readonly string[]): readonly Directive[] {
    const found = this.directives.filter(({ name }) => names.includes(name));
    for (const each of found) this.#taken.take(each);
    return found;
  }

  /** Lists directives of this and enclosing blocks that may affect requests and have no counterpart. */
  unknown(): readonly Directive[] {
    const own = this.directives.filter((each) => !isKnown(each));
    return [...(this.#above?.unknown() ?? []), ...own];
  }
}

function isKnown({ name, words: [first = ""] }: Directive): boolean {
  if (name === "include") return /(^|\/)mime\.types$/.test(first);
  return KNOWN.has(name) || HARMLESS.test(name);
}

/** Directives that the importer handles. */
const KNOWN: ReadonlySet<string> = new Set([
  ...["server", "location", "upstream", "listen", "server_name", "return", "if"],
  ...["proxy_pass", "proxy_set_header", "proxy_hide_header", "proxy_redirect", "add_header"],
  ...[
    "auth_basic",
    "auth_basic_user_file",
    "allow",
    "deny",
    "satisfy",
    "limit_req",
    "limit_req_zone",
  ],
  ...["proxy_connect_timeout", "proxy_read_timeout", "default_type", "limit_req_status"],
  ...["ssl_certificate", "ssl_certificate_key", "ssl_protocols", "ssl_client_certificate"],
  ...["ssl_verify_client", "ssl", "proxy_ssl_verify", "proxy_ssl_trusted_certificate"],
  ...["proxy_ssl_name", "proxy_ssl_server_name", "map", "geo", "split_clients"],
]);

/** Directives that affect neither access nor routing. */
const HARMLESS = new RegExp(
  `^(${[
    "access_log|error_log|log_format|log_not_found|log_subrequest|open_log_file_cache",
    "gzip.*|brotli.*|sendfile.*|tcp_no.*|aio|directio|output_buffers|postpone_output",
    "keepalive_.*|client_header_.*|client_body_.*|client_max_body_size|send_timeout|lingering_.*",
    "large_client_header_buffers|reset_timedout_connection|server_tokens|etag|expires|charset",
    "types|types_hash_.*|server_names_hash_.*|variables_hash_.*|server_name_in_redirect",
    "port_in_redirect|absolute_redirect|resolver|resolver_timeout|open_file_cache.*",
    "root|index|autoindex|error_page|recursive_error_pages|if_modified_since|chunked_transfer_encoding",
    "proxy_buffer.*|proxy_busy_buffers_size|proxy_request_buffering|proxy_http_version",
    "proxy_max_temp_file_size|proxy_temp_.*|proxy_cache.*|proxy_no_cache|proxy_store.*",
    "proxy_next_upstream.*|proxy_send_timeout|proxy_send_lowat|proxy_socket_keepalive",
    "proxy_headers_hash_.*|proxy_intercept_errors|proxy_ignore_client_abort|proxy_ignore_headers",
    "proxy_limit_rate|proxy_pass_header|proxy_ssl_session_reuse|proxy_ssl_protocols|proxy_ssl_ciphers",
    "proxy_ssl_verify_depth|ssl_session_.*|ssl_prefer_server_ciphers|ssl_ciphers|ssl_dhparam",
    "ssl_ecdh_curve|ssl_stapling.*|ssl_trusted_certificate|ssl_buffer_size|ssl_early_data",
    "ssl_conf_command|http2.*|http3.*|limit_rate.*|limit_req_log_level|limit_conn_zone",
    "merge_slashes|stub_status|add_trailer|connection_pool_size|request_pool_size",
  ].join("|")})$`,
);
