/** A string from the bytes of a header, so that any character can be tested. */
const decoded = 'string(base64.decode(request.headers["x-text"]))';

/** Returns routes that transform, by name. `upstream`: the host of a server with scripted responses. */
export function transformationRoutes(upstream: string) {
  const scripted = [{ host: upstream }];
  const request = (changes: object) => ({ policies: { transformations: { request: changes } } });
  const response = (changes: object) => ({
    policies: { transformations: { response: changes } },
    backends: scripted,
  });
  return {
    headers: request({
      add: { "x-added": '"gateway " + request.method' },
      set: {
        "X-Set": 'request.headers["x-set"] + "!"',
        "x-failed": 'request.headers["missing"]',
      },
      remove: ["x-removed"],
    }),
    snapshot: request({
      set: { "x-a": "request.headers['x-b']", "x-b": "request.headers['x-a']" },
    }),
    cluster: { policies: { transformation: { request: { set: { "x-set": '"1"' } } } } },
    types: request({
      set: {
        "x-int": "1 + 1",
        "x-bool": "1 < 2",
        "x-list": '["a", "b"]',
        "x-map": '{"a": 1}',
        "x-null": "null",
      },
    }),
    pseudo: request({
      set: {
        ":method": '"PUT"',
        ":path": 'request.headers["x-path"]',
        ":authority": '"new.example"',
      },
    }),
    "rewritten-too": {
      policies: {
        transformations: { request: { set: { ":path": '"/api/x?y=1"' } } },
        urlRewrite: { authority: { full: "last.example" } },
      },
    },
    text: {
      policies: {
        transformations: {
          request: { set: { "x-value": decoded } },
          response: { set: { "x-value": decoded } },
        },
      },
    },
    body: {
      ...request({ body: '{"wrapped": json(request.body), "by": request.path}' }),
      backends: scripted,
    },
    fixed: { ...request({ body: '"fixed"' }), backends: scripted },
    failing: { ...request({ body: "json(request.body).missing.field" }), backends: scripted },
    ruled: {
      policies: { authorization: { rules: ['json(request.body).name == "alice"'] } },
      backends: scripted,
    },
    denied: {
      policies: { authorization: { rules: [{ deny: 'string(request.body).contains("bad")' }] } },
      backends: scripted,
    },
    "response-headers": response({
      add: { "x-added": "string(response.code)" },
      set: { "x-path": "request.path", server: 'response.headers["nothing"]' },
      remove: ["x-removed"],
    }),
    replaced: request({
      replace:
        '{"x-kept": request.headers["x-kept"], "x-list": ["a", "b"], "x-number": 7, "x-null": null}',
      set: { "x-top": '"1"' },
    }),
    "replaced-by": request({ replace: `json(${decoded})` }),
    "response-replaced": response({ replace: '{"x-only": string(response.code)}' }),
    metadata: {
      policies: {
        transformations: {
          request: {
            metadata: {
              tier: 'request.headers["x-tier"]',
              list: "[1, 2]",
              bad: 'request.headers["missing"]',
            },
            set: { "x-tier-copy": "metadata.tier", "x-size": "size(metadata.list)" },
          },
          response: {
            metadata: { doubled: "response.code * 2" },
            set: { "x-tier": "metadata.tier", "x-doubled": "metadata.doubled" },
          },
        },
      },
    },
    conditional: {
      policies: {
        transformations: {
          conditional: [
            {
              condition: 'request.headers["x-ask"] == "a"',
              request: { set: { "x-case": '"a"' } },
              response: { set: { "x-case": '"a"' } },
            },
            {
              condition: 'request.headers["x-ask"] == "b"',
              response: { set: { "x-case": '"b"' } },
            },
            { request: { set: { "x-case": '"else"' } } },
          ],
        },
      },
    },
    "pseudo-added": request({ add: { ":path": '"/added?a=1"', ":method": '"PUT"' } }),
    status: response({ set: { ":status": "response.code == 418 ? 200 : 502" } }),
    "status-text": response({ set: { ":status": 'response.headers["x-status"]' } }),
    "response-body": response({
      body: '"<" + string(response.body) + ">"',
      set: { "x-size": "string(size(response.body))" },
    }),
    "response-fixed": response({ body: '"fixed " + string(response.code)' }),
    "response-read": response({ set: { "x-size": "size(response.body)" } }),
    identity: {
      policies: {
        apiKey: {
          mode: "optional",
          keys: [
            {
              keyHash: "sha256:2c70e12b7a0646f92279f427c7b38e7334d8e5389cff167a1dc30e73f826b683",
              metadata: { user: "alice" },
            },
          ],
        },
        transformations: {
          request: { set: { "x-user": "apiKey.user" } },
          response: { set: { "x-user": "apiKey.user" } },
        },
      },
    },
    local: {
      policies: {
        transformations: {
          response: { set: { "x-status": "response.code", ":status": "201" }, body: '"changed"' },
        },
        directResponse: { status: 200, body: "original" },
      },
      backends: [],
    },
  };
}
