// Writes the report of a pull request as one comment, which later runs update.
// node comment.mjs github|gitlab REPORT GRAPH NAME
import { appendFileSync, readFileSync } from "node:fs";

const [platform, reportFile, graphFile, name] = process.argv.slice(2);

/** GitHub refuses longer comments, and draws no longer pictures. */
const MAX_COMMENT = 65_000;
const MAX_PICTURE = 45_000;

const mark = `<!-- gwc review of ${JSON.stringify(name).replaceAll("--", "- -")} -->`;

function commentText() {
  const report = readFileSync(reportFile, "utf8").trimEnd();
  const graph = readFileSync(graphFile, "utf8").trimEnd();
  const picture = `\n\n<details><summary>Picture</summary>\n\n\`\`\`mermaid\n${graph}\n\`\`\`\n\n</details>`;
  const cut = "\n\nThe report is longer than a comment can be: run `gwc diff` for the rest.";
  const room = MAX_COMMENT - mark.length - cut.length;
  // A cut at a paragraph leaves no open code span.
  const shown =
    report.length <= room ? report : `${report.slice(0, report.lastIndexOf("\n\n", room))}${cut}`;
  const isSmall =
    graph.length <= MAX_PICTURE && mark.length + shown.length + picture.length < MAX_COMMENT;
  return `${mark}\n${shown}${isSmall ? picture : ""}\n`;
}

async function call(method, url, headers, body) {
  const response = await fetch(url, {
    method,
    headers: { "content-type": "application/json", accept: "application/json", ...headers },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
  if (!response.ok) throw new Error(`${method} ${new URL(url).pathname}: ${response.status}`);
  return {
    value: await response.json(),
    next: /<([^>]+)>;\s*rel="next"/.exec(response.headers.get("link") ?? "")?.[1],
  };
}

async function upsert({ list, item, create, update, headers }, text) {
  for (let url = list; url !== undefined; ) {
    const { value, next } = await call("GET", url, headers);
    const own = value.find(({ body }) => body?.startsWith(mark));
    if (own !== undefined) return call(update, `${item}/${own.id}`, headers, { body: text });
    url = next;
  }
  return call(create, list, headers, { body: text });
}

function github(env) {
  const event = JSON.parse(readFileSync(env.GITHUB_EVENT_PATH, "utf8"));
  const number = event.pull_request?.number;
  if (number === undefined) return undefined;
  const issues = `${env.GITHUB_API_URL}/repos/${env.GITHUB_REPOSITORY}/issues`;
  return {
    list: `${issues}/${number}/comments`,
    item: `${issues}/comments`,
    ...{
      create: "POST",
      update: "PATCH",
      headers: { authorization: `Bearer ${env.GITHUB_TOKEN}` },
    },
  };
}

function gitlab(env) {
  if (!env.CI_MERGE_REQUEST_IID || !env.GITLAB_TOKEN) return undefined;
  const notes = `${env.CI_API_V4_URL}/projects/${env.CI_PROJECT_ID}/merge_requests/${env.CI_MERGE_REQUEST_IID}/notes`;
  const headers = { "private-token": env.GITLAB_TOKEN };
  return { list: notes, item: notes, create: "POST", update: "PUT", headers };
}

const text = commentText();
if (process.env.GITHUB_STEP_SUMMARY) appendFileSync(process.env.GITHUB_STEP_SUMMARY, text);
const place = platform === "github" ? github(process.env) : gitlab(process.env);
if (place === undefined) {
  console.log("no comment: this run belongs to no pull request, or has no token");
} else {
  try {
    await upsert(place, text);
  } catch (error) {
    // The token of a fork may not write; the verdict of the job does not depend on the comment.
    console.log(
      `${platform === "github" ? "::warning::" : "warning: "}the comment was not written: ${error.message}`,
    );
  }
}
