const form = document.getElementById("call");
const shown = document.getElementById("result");
const key = document.body.dataset.key;
const tools = new Map();

const element = (name, text, className) => {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) made.className = className;
  return made;
};

function request(isSent) {
  const { target, headers, credential, identity, method, body } = form.elements;
  const { placeholder = "", encoding } = credential ? credential.dataset : {};
  const given = credential && isSent ? credential.value : "";
  const bytes = new TextEncoder().encode(given);
  const secret = encoding === "base64" ? btoa(String.fromCharCode(...bytes)) : given;
  const filled = (text) => (placeholder === "" ? text : text.replaceAll(placeholder, secret));
  const lines = headers.value.split("\n").filter((line) => line.trim() !== "");
  const isNobody = (line) => placeholder !== "" && given === "" && line.includes(placeholder);
  return {
    route: form.dataset.route,
    method: method ? method.value : "POST",
    target: filled(target.value),
    headers: lines.filter((line) => !isNobody(line)).map(filled),
    body: body ? body.value : "",
    ...(identity && !isSent && { identity: identity.value }),
  };
}

async function ask(path, call) {
  const response = await fetch(path, {
    method: "POST",
    headers: { "content-type": "application/json", "x-gwc-page": key },
    body: JSON.stringify(call),
  });
  if (!response.ok) throw new Error(await response.text());
  return response.json();
}

async function send(mcp) {
  shown.replaceChildren(element("p", "Sent ...", "soft"));
  try {
    const era = form.elements.era?.value;
    const result = await ask("/ui/try", { ...request(true), ...(mcp && { mcp: { ...mcp, era } }) });
    show(result);
    return result;
  } catch (error) {
    show({ problem: error.message });
    return {};
  }
}

async function decide(mcp) {
  try {
    showVerdict(await ask("/ui/can", { ...request(false), ...(mcp && { mcp }) }));
  } catch (error) {
    show({ problem: error.message });
  }
}

function showVerdict({ outcome, text, problem }) {
  if (problem) return show({ problem });
  const card = element("section", "", "card");
  const title = element("h2", "");
  const words = { yes: "passes", no: "is refused", depends: "depends" };
  title.append(element("span", words[outcome], outcome === "no" ? "pill bad" : "pill good"));
  card.append(title, element("pre", text));
  shown.replaceChildren(card);
}

function show({ response, noted, problem }) {
  const card = element("section", "", "card");
  if (problem) card.append(element("h2", problem));
  if (response) {
    const title = element("h2", "");
    title.append(
      element("span", String(response.status), response.status < 400 ? "pill good" : "pill bad"),
    );
    if (noted) {
      const facts = noted.notes.map(([name, value]) => `${name}=${value}`);
      facts.unshift(`${Math.round(noted.duration)} ms`);
      if (noted.reason || noted.upstream) facts.unshift(noted.reason || noted.upstream);
      title.append(element("small", facts.join(", ")));
    }
    const head = Object.entries(response.headers).map(([name, value]) => `${name}: ${value}`);
    const headers = element("details", "");
    headers.append(
      element("summary", `${head.length} headers`, "soft"),
      element("pre", head.join("\n")),
    );
    card.append(title, element("pre", pretty(response.body)), headers);
    if (response.isCut)
      card.append(element("p", "There is more, or it did not end in time.", "soft"));
  }
  shown.replaceChildren(card);
}

function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), undefined, 2);
  } catch {
    return text;
  }
}

const samples = { string: "", number: 0, integer: 0, boolean: false, array: [], object: {} };

function choose(name) {
  const tool = tools.get(name);
  document.getElementById("about").textContent = tool ? tool.description || "" : "";
  if (!tool) return;
  const properties = Object.entries(tool.inputSchema?.properties || {});
  const sample = properties.map(([each, { type }]) => [
    each,
    samples[type] === undefined ? null : samples[type],
  ]);
  form.elements.arguments.value = JSON.stringify(Object.fromEntries(sample), undefined, 2);
}

if (form) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (form.dataset.mcp === "") return send();
    try {
      const given = JSON.parse(form.elements.arguments.value);
      send({ method: "tools/call", params: { name: form.elements.tool.value, arguments: given } });
    } catch (error) {
      show({ problem: `the arguments are no JSON: ${error.message}` });
    }
  });
  document.getElementById("decide").addEventListener("click", () => {
    if (form.dataset.mcp === "") return decide();
    decide({ method: "tools/call", params: { name: form.elements.tool.value } });
  });
  const list = document.getElementById("list");
  if (list) {
    list.addEventListener("click", async () => {
      const { response } = await send({ method: "tools/list", params: {} });
      let found = [];
      try {
        found = JSON.parse(response.body).result.tools;
      } catch {}
      tools.clear();
      for (const tool of found) tools.set(tool.name, tool);
      const options = found.map(({ name }) =>
        Object.assign(element("option", ""), { value: name }),
      );
      document.getElementById("tools").replaceChildren(...options);
      if (found.length > 0) {
        form.elements.tool.value = found[0].name;
        choose(found[0].name);
      }
    });
    form.elements.tool.addEventListener("change", () => choose(form.elements.tool.value));
  }
}
