/**
 * Names of members of messages, tools and their parts in the APIs of OpenAI, Anthropic, Google and Bedrock, and compatible servers. Any other
 * name comes from the client, and guards check it as text, because chat templates of models may include whole objects.
 */
export const MEMBER_WORDS: ReadonlySet<string> = new Set([
  ...membersOfBodies(),
  ...membersOfGoogle(),
  ...membersOfBedrock(),
  ...membersOfMedia(),
  ...["acknowledged_safety_checks", "action", "actions", "active", "allowed_callers"],
  ...["allowed_domains", "allowed_tools", "always", "annotations", "approval_request_id"],
  ...["approve", "approximate", "arguments", "attributes", "audio", "authorization", "background"],
  ...["blocked_domains", "budget_tokens", "button", "bytes", "cache_control", "call_id", "caller"],
  ...["caller_id", "citations", "cited_text", "city", "client_tool_results", "close_tab", "code"],
  ...["command", "commands", "compact_threshold", "configs", "connector_id", "container"],
  ...["container_id", "content", "context", "country", "created_by", "cursor_position", "custom"],
  ...["data", "defer_loading", "definition", "description", "detail", "diff", "display"],
  ...["display_height", "display_width", "document_index", "document_title", "domain"],
  ...["domain_secrets", "double_click", "download_id", "eager_input_streaming", "effort"],
  ...["embedding_weight", "enabled", "encrypted_content", "encrypted_index", "encrypted_stdout"],
  ...["end_block_index", "end_char_index", "end_index", "end_page_number", "env", "environment"],
  ...["error", "error_code", "error_message", "execution", "exit_code", "extra_content", "file"],
  ...["file_data", "file_id", "file_ids", "file_type", "file_upload", "file_url", "filename"],
  ...["filters", "find", "fingerprint", "form_input", "format", "function", "function_call"],
  ...["functions", "get_page_text", "grammar", "headers", "hold_key", "hover", "hybrid_search"],
  ...["id", "image_url", "include", "index", "input", "input_audio", "input_examples"],
  ...["input_fidelity", "input_image_mask", "input_schema", "instructions", "is_error"],
  ...["is_file_update", "javascript_exec", "json_schema", "key", "keys", "left_click"],
  ...["left_click_drag", "left_mouse_down", "left_mouse_up", "length", "lines", "list_tabs"],
  ...["logprob", "logprobs", "logs", "max_characters", "max_content_tokens", "max_num_results"],
  ...["max_output_length", "max_uses", "media_type", "memory_limit", "message", "messages"],
  ...["middle_click", "mode", "model", "moderation", "mouse_move", "name", "namespace", "navigate"],
  ...["network_policy", "never", "new_lines", "new_start", "new_tab", "num_lines", "old_lines"],
  ...["old_start", "operation", "outcome", "output", "output_compression", "output_format"],
  ...["output_schema", "outputs", "oversized_image", "page_age", "parameters", "parsed_arguments"],
  ...["partial_images", "path", "pattern", "pending_safety_checks", "phase", "policy", "prompt"],
  ...["prompt_cache_breakpoint", "properties", "quality", "queries", "query", "ranker"],
  ...["ranking_options", "read_console", "read_network", "read_only", "read_page", "reason"],
  ...["reasoning", "reasoning_content", "reasoning_details", "refusal", "region"],
  ...["require_approval", "required", "response_inclusion", "result", "results", "retrieved_at"],
  ...["return_code", "right_click", "role", "safety_identifier", "schema", "score"],
  ...["score_threshold", "screenshot", "scroll", "scroll_to", "scroll_x", "scroll_y"],
  ...["search_content_types", "search_context_size", "search_result_index", "server_description"],
  ...["server_label", "server_tool_results", "server_url", "signature", "size", "size_bytes"],
  ...["skill_id", "skills", "source", "sources", "start_block_index", "start_char_index"],
  ...["start_index", "start_line", "start_page_number", "state_changes", "status", "stderr"],
  ...["stdout", "strict", "summary", "switch_tab", "syntax", "system", "tab_id", "tabs"],
  ...["task_budget", "text", "text_weight", "thinking", "thought_signature", "timeout_ms"],
  ...["timezone", "title", "token", "tokens", "tool_call_id", "tool_calls", "tool_choice"],
  ...["tool_id", "tool_name", "tool_names", "tool_references", "tool_result", "tool_use_id"],
  ...["tools", "toolset_name", "top_logprobs", "total", "total_lines", "transcript"],
  ...["transformations", "triple_click", "ttl", "tunnel_id", "type", "url", "url_sources"],
  ...["use_cache", "user", "user_input", "user_location", "value", "variables", "vector_store_ids"],
  ...["verbosity", "version", "voice", "wait", "working_directory", "workspace_id", "x", "y"],
  ...["zoom"],
]);

/** Members of requests, responses and events themselves. */
function membersOfBodies(): readonly string[] {
  const words =
    "accepted_prediction_tokens annotation annotation_index applied_edits audio_tokens " +
    "billing cache_creation cache_creation_input_tokens cache_read_input_tokens " +
    "cached_tokens category choices citation code_interpreter completed_at completion_tokens " +
    "completion_tokens_details content_block content_filter_results content_index " +
    "context_management conversation created created_at deleted delta dimensions " +
    "disable_parallel_tool_use embedding encoding_format ephemeral_1h_input_tokens " +
    "ephemeral_5m_input_tokens expires_at explanation finish_reason first_id " +
    "frequency_penalty generate_summary has_more include_obfuscation include_usage " +
    "incomplete_details inference_geo input_tokens input_tokens_details item item_id last_id " +
    "logit_bias max_completion_tokens max_output_tokens max_tokens max_tool_calls metadata " +
    "modalities n native_finish_reason obfuscation object output_config output_index " +
    "output_text output_tokens output_tokens_details parallel_tool_calls param part " +
    "partial_image_b64 partial_image_index partial_json prediction presence_penalty " +
    "previous_response_id prompt_cache_key prompt_cache_retention prompt_filter_results " +
    "prompt_tokens prompt_tokens_details provider reasoning_effort reasoning_tokens " +
    "redacted_thinking rejected_prediction_tokens request_id response response_format seed " +
    "sequence_number server_tool_use service_tier stop stop_details stop_reason " +
    "stop_sequence stop_sequences store stream stream_options summary_index " +
    "system_fingerprint temperature thinking_tokens tool_use top_k top_p total_tokens " +
    "truncation url_citation usage user_id web_fetch_requests web_search_options " +
    "web_search_requests";
  return words.split(" ");
}

/** Members in Google's API, which reads both spellings of each. */
function membersOfGoogle(): readonly string[] {
  const words =
    "_responseJsonSchema allowedFunctionNames args aspectRatio authConfig autoMode avgLogprobs " +
    "behavior blockReason blockReasonMessage blockingConfidence blocked cacheTokensDetails " +
    "cachedContent cachedContentTokenCount candidateCount candidates candidatesTokenCount " +
    "candidatesTokensDetails chosenCandidates chunk citationMetadata citationSources " +
    "codeExecution codeExecutionResult computerUse confidenceScores contents displayName " +
    "dynamicRetrievalConfig dynamicThreshold enableAffectiveDialog enableWidget endIndex " +
    "endOffset endTime enterpriseWebSearch excludeDomains excludedPredefinedFunctions " +
    "executableCode fileData fileSearch fileSearchStoreNames fileUri finishMessage " +
    "finishReason fps frequencyPenalty functionCall functionCallingConfig " +
    "functionDeclarations functionResponse generationConfig googleMaps googleSearch " +
    "googleSearchRetrieval groundingAttributions groundingChunkIndices groundingChunks " +
    "groundingMetadata groundingSupports imageConfig imageSearch imageSearchQueries " +
    "imageSize includeServerSideToolInvocations includeThoughts inlineData jsonPath labels language " +
    "languageCode latLng latitude level license llmRanker logProbability logProbabilitySum " +
    "logprobsResult longitude maps maxOutputTokens mcpServers mediaResolution metadataFilter " +
    "mimeType modality modelStatus modelVersion multiSpeakerVoiceConfig nullValue " +
    "numberValue boolValue outcome parametersJsonSchema partIndex partMetadata partialArgs " +
    "parts personGeneration placeAnswerSources placeId prebuiltVoiceConfig presencePenalty " +
    "probability probabilityScore promptFeedback promptTokenCount promptTokensDetails " +
    "renderedContent responseFormat responseId responseJsonSchema responseLogprobs " +
    "responseMimeType responseModalities responseSchema retrieval retrievalConfig " +
    "retrievalMetadata retrievalQueries retrievedContext retrievedUrl routingConfig " +
    "safetyRatings safetySettings scheduling sdkBlob searchEntryPoint searchTypes segment " +
    "serviceTier severity severityScore speaker speakerVoiceConfigs speechConfig startIndex " +
    "startOffset startTime stopSequences streamFunctionCallArguments stringValue " +
    "systemInstruction thinkingBudget thinkingConfig thinkingLevel thought thoughtSignature " +
    "thoughtsTokenCount threshold timeRangeFilter timeout tokenCount tokenId toolCall " +
    "toolConfig toolResponse toolType toolUsePromptTokenCount toolUsePromptTokensDetails " +
    "topCandidates topK topP totalTokenCount trafficType uri urlContext urlContextMetadata " +
    "urlMetadata urlRetrievalStatus usageMetadata videoMetadata voiceConfig voiceName web " +
    "webSearch webSearchQueries willContinue name response";
  return words.split(" ").flatMap((word) => [word, snakeCase(word)]);
}

/** Returns the second spelling of a member in Google's API: `maxOutputTokens` is also `max_output_tokens`. */
export function snakeCase(word: string): string {
  return word.replaceAll(/(?<=.)[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Members in requests and responses for audio, images, rankings and moderations. */
function membersOfMedia(): readonly string[] {
  const words =
    "avg_logprob b64_json billed_units categories category_applied_input_types category_scores " +
    "chunking_strategy compression_ratio documents duration flagged include[] instructions " +
    "images input_token_details known_speaker_names known_speaker_names[] " +
    "known_speaker_references known_speaker_references[] language mask max_chunks_per_doc " +
    "max_tokens_per_doc meta moderation no_speech_prob output_token_details priority " +
    "relevance_score results return_documents revised_prompt search_units seconds seek segment_id " +
    "segments speaker speed stream_format style task text_tokens timestamp_granularities " +
    "timestamp_granularities[] top_n word words";
  return words.split(" ");
}

/** Members in Bedrock's Converse. */
function membersOfBedrock(): readonly string[] {
  const words =
    "additionalModelRequestFields additionalModelResponseFieldPaths " +
    "additionalModelResponseFields any auto bucketOwner cachePoint cacheReadInputTokens " +
    "cacheWriteInputTokens citationsContent contentBlockDelta contentBlockIndex " +
    "contentBlockStart contentBlockStop documentChar documentChunk documentPage end " +
    "generatedContent guardContent guardrailConfig inferenceConfig inputSchema inputTokens " +
    "internalServerException json jsonSchema latency latencyMs location maxTokens messageStart " +
    "messageStop metrics modelStreamErrorException outputConfig outputTokens performanceConfig " +
    "document image serverName toolAddition toolRemoval promptVariables qualifiers reasoningContent reasoningText redactedContent requestMetadata " +
    "s3Location searchResult searchResultLocation serviceUnavailableException sourceContent " +
    "start stopReason structure systemTool textFormat throttlingException tool toolChoice " +
    "toolResult toolSpec toolUse toolUseId totalTokens trace validationException video web";
  return words.split(" ");
}
