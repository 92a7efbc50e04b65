import type { ApplyGuardrailResponse } from "@aws-sdk/client-bedrock-runtime";
import type OpenAI from "openai";
import { type Received, type Scripted, startScripted } from "../harness/scripted.ts";

/** The reaction of a guard service to a string; the first part of the path selects it. */
export type ServiceBehaviour = "finds" | "masks" | "slow" | "error" | "rubbish";

const word = /secret\w*/g;

/**
 * OpenAI's moderation, Bedrock's guardrails and Model Armor on one port, with the vendors' own response types. They detect
 * words that begin with "secret".
 */
export function startGuardServices(): Promise<Scripted> {
  return startScripted((response, _, request) => {
    const behaviour = request.url.split("/")[1];
    if (behaviour === "slow") return;
    response.writeHead(behaviour === "error" ? 500 : 200, { "content-type": "application/json" });
    const said = behaviour === "rubbish" ? { results: "none", action: 7 } : saidTo(request);
    response.end(JSON.stringify(said));
  });
}

function saidTo({ url, body }: Received): object {
  const asked = JSON.parse(body.toString());
  if (url.endsWith("/v1/moderations")) return moderation(asked);
  if (url.includes("/text:analyze?")) return analysis(asked);
  if (url.includes("/text:shieldPrompt?")) return shield(asked);
  if (url.endsWith("/apply")) return guardrail(asked, url.startsWith("/masks"));
  return modelArmor(asked);
}

function moderation({ input, model }: { input: readonly string[]; model: string }) {
  return {
    id: "modr-1",
    model,
    results: input.map((text) => {
      const flagged = text.match(word) !== null;
      const score = flagged ? 0.98 : 0.01;
      return {
        flagged,
        categories: allCategories(flagged),
        category_scores: allCategories(score),
        category_applied_input_types: allCategories(["text" as const]),
      };
    }),
  } satisfies OpenAI.ModerationCreateResponse;
}

function allCategories<Value>(value: Value) {
  return {
    harassment: value,
    "harassment/threatening": value,
    hate: value,
    "hate/threatening": value,
    illicit: value,
    "illicit/violent": value,
    "self-harm": value,
    "self-harm/instructions": value,
    "self-harm/intent": value,
    sexual: value,
    "sexual/minors": value,
    violence: value,
    "violence/graphic": value,
  };
}

function guardrail(
  { content }: { content: readonly { text: { text: string } }[] },
  masks: boolean,
) {
  const texts = content.map(({ text }) => text.text);
  const isFound = texts.some((text) => text.match(word) !== null);
  const usage = {
    topicPolicyUnits: 0,
    contentPolicyUnits: 0,
    wordPolicyUnits: 0,
    sensitiveInformationPolicyUnits: 1,
    sensitiveInformationPolicyFreeUnits: 0,
    contextualGroundingPolicyUnits: 0,
  };
  if (!isFound) {
    return { usage, action: "NONE", outputs: [], assessments: [] } satisfies ApplyGuardrailResponse;
  }
  const action = masks ? "ANONYMIZED" : "BLOCKED";
  const found = { name: "secret", match: "secret", regex: "secret\\w*", action } as const;
  return {
    usage,
    action: "GUARDRAIL_INTERVENED",
    outputs: masks
      ? texts.map((text) => ({ text: text.replaceAll(word, "{SECRET}") }))
      : [{ text: "The guardrail says no." }],
    assessments: [{ sensitiveInformationPolicy: { piiEntities: [], regexes: [found] } }],
  } satisfies ApplyGuardrailResponse;
}

/** AnalyzeTextResult (2024-09-01). */
function analysis({ text, blocklistNames }: { text: string; blocklistNames: readonly string[] }) {
  const severity = text.match(word) === null ? 0 : 4;
  return {
    blocklistsMatch: blocklistNames
      .filter((name) => text.includes(name))
      .map((blocklistName) => {
        return { blocklistName, blocklistItemId: "1", blocklistItemText: blocklistName };
      }),
    categoriesAnalysis: ["Hate", "SelfHarm", "Sexual", "Violence"].map((category) => {
      return { category, severity: category === "Violence" ? severity : 0 };
    }),
  };
}

/** ShieldPromptResult (2024-09-01). */
function shield({ userPrompt }: { userPrompt: string }) {
  const attackDetected = userPrompt.match(word) !== null;
  return { userPromptAnalysis: { attackDetected }, documentsAnalysis: [] };
}

function modelArmor(asked: {
  userPromptData?: { text: string };
  modelResponseData?: { text: string };
}) {
  const { text = "" } = asked.userPromptData ?? asked.modelResponseData ?? {};
  const state = text.match(word) === null ? "NO_MATCH_FOUND" : "MATCH_FOUND";
  return {
    sanitizationResult: {
      filterMatchState: state,
      invocationResult: "SUCCESS",
      filterResults: {
        pi_and_jailbreak: {
          piAndJailbreakFilterResult: { executionState: "EXECUTION_SUCCESS", matchState: state },
        },
      },
    },
  };
}
