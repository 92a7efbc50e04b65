import { heading, type Page, paragraph, table } from "../page.ts";

/** The page of `gwc can`. */
export function canPage(): Page {
  return {
    title: "gwc can: who may do what",
    parts: [
      paragraph(
        "Asks the compiled rules of a configuration whether a request or an MCP call gets through. Nothing is served, no " +
          "server is asked, and credentials count as valid: `--as` says what is in the token.",
      ),
      { kind: "example", language: "sh", text: QUESTIONS },
      heading("What comes out"),
      ...table(
        ["outcome", "exit code", "what it means"],
        [
          ["yes", "0", "every policy that decides lets it pass on some route or server"],
          ["no", "1", "each refuses it; the rule that does is named with its place"],
          [
            "it depends",
            "4",
            "it depends on what the question leaves open, and the conditions are printed",
          ],
        ],
      ),
      paragraph(
        "Policies stand in the order in which a request meets them, each with its verdict. Behind one that refuses none is " +
          "asked any more. The client's address is open without `--from`; headers that are not given are absent. Whether a page of another site is refused (csrf) is decided by the " +
          "method, the host, `origin` and `sec-fetch-site`. A header that is given twice has several lines: each by itself and " +
          "all joined have to get through. `CONNECT host:443` asks for a tunnel, whose host has its port in rules.",
      ),
      heading("Turned around"),
      paragraph(
        "`--who` asks under which conditions anyone may. The conditions are said in the words of the rules, simplified, and as " +
          "one expression (`as CEL`) that `gwc eval` takes. `undecided: depends on EXPR` names an expression that can't be " +
          "solved: one over two values, or over a body. Rules that take too many steps to solve are undecided, too: the exit " +
          "code is 4.",
      ),
    ],
  };
}

const QUESTIONS = `gwc can call tool delete_all --as '{"sub":"eve","roles":["dev"]}'
gwc can read resource file:///etc/hosts --target files --as '{"sub":"eve"}'
gwc can GET https://shop.example.com/admin --header "x-env: dev" --from 10.1.2.3
gwc can --who tool delete_all`;
