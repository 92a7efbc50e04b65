import { heading, type Page, paragraph, table } from "../page.ts";

/** The page of `gwc diff`. */
export function diffPage(): Page {
  return {
    title: "gwc diff: what a change really does",
    parts: [
      paragraph(
        "A reviewer's question is who may now do what. `gwc diff OLD NEW` compares two configurations by what requests get " +
          "from them, `gwc diff --git BASE` one with itself in another revision. Both are compiled; their text is never compared, " +
          "so re-quoting, moving, renaming and rewriting a rule into another one that means the same is no difference.",
      ),
      paragraph(
        "A side may be the `manifest.json` of a bundle: what runs, against what is proposed. It has the rules, which are solved " +
          "like others, routes, ports and needs; of the settings of a policy it tells whether they are the same.",
      ),
      heading("What it says"),
      paragraph(
        "The first line is the verdict: how many differences open, close or change something, and the first of them. What opens access comes first. " +
          "Under each difference:",
      ),
      ...table(
        ["line", "what it is"],
        [
          [
            "when",
            "what holds of every request that it is about, in the words of the rules; without it: always",
          ],
          ["unless", "what must not hold: false, absent, or of another type"],
          [
            "by",
            "the rule or the part that decides now; `base` before a place means the old configuration",
          ],
          ["was", "what decided before"],
          [
            "e.g.",
            "a request that shows it: the compiled rules of both sides were run on it, with two outcomes",
          ],
        ],
      ),
      heading("What is compared"),
      ...table(
        ["part", "how"],
        [
          [
            "rules",
            "solved: decision diagrams over all requests, each difference executed before it is said",
          ],
          [
            "routing",
            "a request for each kind of host, path, method, header and parameter, looked up in both tables",
          ],
          [
            "identities",
            "strict, optional or gone; issuers, audiences, keys, users and what is known of a key's holder",
          ],
          [
            "other policies",
            "gained, lost, or set otherwise; a policy that knows says which way: an origin added opens, as does a guard that " +
              "lets pass what its server does not answer, another server that is asked, a header that clients say themselves, or a " +
              "response or redirect that is gone, so that requests get further",
          ],
          [
            "what rules read",
            "a policy that changes requests before rules read them and is another one: not decided, as are settings that a " +
              "manifest has no more than a digest of",
          ],
          [
            "paths",
            "`pathHandling: verbatim` in place of `canonical` opens: a backend may read other paths than rules did",
          ],
          [
            "backends",
            "where requests go, and how: TLS, timeouts, limits; one more MCP server, any model in the place of one, a guard " +
              "that is gone, certificates that nobody checks and clients' credentials that go on open",
          ],
          ["the process", "ports, variables and files that it needs to start, logs, traces"],
        ],
      ),
      paragraph(
        "A rule that can't be solved (it compares two values with each other, or reads a body) is tried with values made " +
          "from its constants. Where that shows nothing it is counted as UNDECIDED in the verdict's last lines, and " +
          "`--exit-code` treats it as if it opened access.",
      ),
      paragraph(
        "Every comparison ends. Who may do what on a route and where the requests for a host go are questions, each of which " +
          "may take a number of steps: up to 10 seconds of a slow processor. All questions of a command together may take six " +
          "times as many. What needs more is not decided: the verdict counts it, and `--exit-code` ends with 5. Steps are " +
          "counted, not seconds, so every machine says the same. Equal parts of two configurations take no steps.",
      ),
      heading("In a pull request"),
      paragraph(
        "`--format markdown` is a comment, `--format sarif` goes to code scanning, and under GitHub Actions each difference " +
          "stands at its line without any option. `--exit-code` ends with 0 when nothing is different, 4 when something is, " +
          "5 when something opens access or is not decided; 1 means that a side has mistakes, 2 that the command has.",
      ),
      { kind: "example", language: "yaml", text: WORKFLOW },
      heading("Five pull requests"),
      ...table(
        ["what was edited", "the first line"],
        [
          [
            "a rule in other words, quotes, a comment",
            "`no request is treated differently: 1 route changed in text, decided exactly`",
          ],
          [
            '`name == "get-sum"` became `name.startsWith("get-")`',
            "`1 difference: 1 OPENS: route tools (:3000 /mcp), hidden -> callable`",
          ],
          [
            "the `cors` of a route is gone",
            "`1 difference: 1 CLOSES: route tools (:3000 /mcp), cors removed`",
          ],
          [
            "another port with a debugging backend",
            "`1 difference: 1 OPENS: port 8080 (new), nothing listened -> served by http://debug:80`",
          ],
          [
            "a server behind a route was swapped",
            "`1 difference: 1 CHANGES: route api (:3000 /api), goes to http://127.0.0.1:9 -> http://127.0.0.2:9`",
          ],
        ],
      ),
    ],
  };
}

const WORKFLOW = `name: Access
on: pull_request
permissions: {contents: read, pull-requests: write}
jobs:
  diff:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
        with: {fetch-depth: 0}
      - run: npm ci
      - run: npx gwc diff --git origin/\${{ github.base_ref }} gateway.yaml --format markdown > access.md
      - run: gh pr comment \${{ github.event.number }} --body-file access.md --edit-last --create-if-none
        env: {GH_TOKEN: "\${{ github.token }}"}
      # A change that opens access needs this job to be overridden by hand.
      - run: npx gwc diff --git origin/\${{ github.base_ref }} gateway.yaml --exit-code || test $? -eq 4`;
