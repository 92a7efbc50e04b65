/** Words of Google's API. */
const GOOGLE_WORDS =
  "ANY AUDIO AUTO BLOCKING BLOCKLIST BLOCK_LOW_AND_ABOVE BLOCK_MEDIUM_AND_ABOVE BLOCK_NONE " +
  "BLOCK_ONLY_HIGH DOCUMENT ESCALATION FILE_SEARCH FINISH_REASON_UNSPECIFIED GOOGLE_MAPS " +
  "GOOGLE_SEARCH_IMAGE GOOGLE_SEARCH_WEB HARM_CATEGORY_CIVIC_INTEGRITY HARM_CATEGORY_DANGEROUS " +
  "HARM_CATEGORY_DANGEROUS_CONTENT HARM_CATEGORY_DEROGATORY HARM_CATEGORY_HARASSMENT " +
  "HARM_CATEGORY_HATE_SPEECH HARM_CATEGORY_JAILBREAK HARM_CATEGORY_MEDICAL " +
  "HARM_CATEGORY_SEXUAL HARM_CATEGORY_SEXUALLY_EXPLICIT HARM_CATEGORY_TOXICITY " +
  "HARM_CATEGORY_VIOLENCE HARM_SEVERITY_HIGH HARM_SEVERITY_LOW HARM_SEVERITY_MEDIUM " +
  "HARM_SEVERITY_NEGLIGIBLE HIGH IMAGE IMAGE_OTHER IMAGE_PROHIBITED_CONTENT IMAGE_RECITATION " +
  "IMAGE_SAFETY INTERRUPT LANGUAGE LANGUAGE_UNSPECIFIED LOW MALFORMED_FUNCTION_CALL " +
  "MALFORMED_RESPONSE MAX_TOKENS MEDIA_RESOLUTION_HIGH MEDIA_RESOLUTION_LOW " +
  "MEDIA_RESOLUTION_MEDIUM MEDIA_RESOLUTION_ULTRA_HIGH MEDIUM MINIMAL " +
  "MISSING_THOUGHT_SIGNATURE MODALITY_UNSPECIFIED MODE_UNSPECIFIED NEGLIGIBLE NONE " +
  "NON_BLOCKING NO_IMAGE OFF OTHER OUTCOME_DEADLINE_EXCEEDED OUTCOME_FAILED OUTCOME_OK " +
  "PROHIBITED_CONTENT PYTHON RECITATION SAFETY SILENT SPII STOP TEXT THINKING_LEVEL_UNSPECIFIED " +
  "TOO_MANY_TOOL_CALLS UNEXPECTED_TOOL_CALL UNSPECIFIED URL_CONTEXT " +
  "URL_RETRIEVAL_STATUS_ERROR URL_RETRIEVAL_STATUS_PAYWALL URL_RETRIEVAL_STATUS_SUCCESS " +
  "URL_RETRIEVAL_STATUS_UNSAFE VALIDATED VIDEO WHEN_IDLE application/json text/x.enum";

/** Words of Bedrock's API. */
const BEDROCK_WORDS =
  "content_filtered csv doc docx guardrail_intervened html malformed_model_output " +
  "malformed_tool_use md optimized server_tool_use success txt xls xlsx";

/**
 * Words with a meaning in the APIs of OpenAI, Anthropic, Google and Bedrock: types, states, reasons. Guards check any other string in
 * their place as text.
 */
export const FORMAT_WORDS: ReadonlySet<string> = new Set(
  (
    `${GOOGLE_WORDS} ${BEDROCK_WORDS} ` +
    "1024x1024 1024x1536 1536x1024 16g 1g 1h 24h 4g 5m 64g aac adaptive allowed_tools " +
    "allowlist always and any api_error application/pdf application/zip apply_patch " +
    "apply_patch_call apply_patch_call_output approximate assistant audio " +
    "authentication_error auto back base64 bash bash_20250124 bash_code_execution " +
    "bash_code_execution_output bash_code_execution_result bash_code_execution_tool_result " +
    "bash_code_execution_tool_result_error batch billing_error bio browser calling " +
    "cancelled char_location chat.completion chat.completion.chunk citations_delta click " +
    "client code_execution code_execution_20250522 code_execution_20250825 " +
    "code_execution_20260120 code_execution_output code_execution_result " +
    "code_execution_tool_result code_execution_tool_result_error code_interpreter " +
    "code_interpreter_call code_interpreter_call.outputs commentary compaction " +
    "compaction_trigger completed computer computer_call computer_call_output " +
    "computer_call_output.output.image_url computer_screenshot computer_use " +
    "computer_use_preview concise container_auto container_file_citation " +
    "container_reference container_upload content content_block_delta " +
    "content_block_location content_block_start content_block_stop content_filter " +
    "create_file custom custom_tool_call custom_tool_call_output cyber default delete_file " +
    "detailed developer direct disabled document done double_click drag edit embedding " +
    "empty_image_file enabled encrypted_code_execution_result end_turn eos ephemeral eq " +
    "error exec execution_time_exceeded exit failed failed_to_download_image file " +
    "file_citation file_not_found file_path file_search file_search_call " +
    "file_search_call.results final_answer find_in_page flac flex float forward function " +
    "function_call function_call_output generate generating grammar gt gte high image " +
    "image/gif image/jpeg image/png image/webp image_content_policy_violation " +
    "image_file_not_found image_file_too_large image_generation image_generation_call " +
    "image_parse_error image_too_large image_too_small image_url in in_memory in_progress " +
    "incomplete inline input_audio input_file input_image input_json_delta input_text " +
    "interpreting invalid_base64_image invalid_image invalid_image_format " +
    "invalid_image_mode invalid_image_url invalid_prompt invalid_request_error " +
    "invalid_tool_input item_reference jpeg json json_object json_schema keypress lark " +
    "left length linux list local local_shell local_shell_call local_shell_call_output " +
    "logs low lt lte mac max max_output_tokens max_tokens max_uses_exceeded mcp " +
    "mcp_approval_request mcp_approval_response mcp_call mcp_list_tools medium memory " +
    "memory_20250818 message message.input_image.image_url message.output_text.logprobs " +
    "message_delta message_start message_stop mid_conv_system minimal model " +
    "model_context_window_exceeded move mp3 namespace ne never nin none not_found_error " +
    "object omitted opaque open_page opus or original output_file_too_large output_text " +
    "overloaded_error page_location pause_turn pcm16 pdf permission_error ping plain png " +
    "priority query_too_long queued rate_limit_error rate_limit_exceeded reasoning " +
    "reasoning.encrypted_content reasoning_text redacted_thinking refusal regex " +
    "request_too_large required response response.audio.delta response.audio.done " +
    "response.audio.transcript.delta response.audio.transcript.done " +
    "response.code_interpreter_call.completed response.code_interpreter_call.in_progress " +
    "response.code_interpreter_call.interpreting response.code_interpreter_call_code.delta " +
    "response.code_interpreter_call_code.done response.completed " +
    "response.content_part.added response.content_part.done response.created " +
    "response.custom_tool_call_input.delta response.custom_tool_call_input.done " +
    "response.deleted response.failed response.file_search_call.completed " +
    "response.file_search_call.in_progress response.file_search_call.searching " +
    "response.function_call_arguments.delta response.function_call_arguments.done " +
    "response.image_generation_call.completed response.image_generation_call.generating " +
    "response.image_generation_call.in_progress " +
    "response.image_generation_call.partial_image response.in_progress response.incomplete " +
    "response.mcp_call.completed response.mcp_call.failed response.mcp_call.in_progress " +
    "response.mcp_call_arguments.delta response.mcp_call_arguments.done " +
    "response.mcp_list_tools.completed response.mcp_list_tools.failed " +
    "response.mcp_list_tools.in_progress response.output_item.added " +
    "response.output_item.done response.output_text.annotation.added " +
    "response.output_text.delta response.output_text.done response.queued " +
    "response.reasoning_summary_part.added response.reasoning_summary_part.done " +
    "response.reasoning_summary_text.delta response.reasoning_summary_text.done " +
    "response.reasoning_text.delta response.reasoning_text.done response.refusal.delta " +
    "response.refusal.done response.web_search_call.completed " +
    "response.web_search_call.in_progress response.web_search_call.searching right scale " +
    "screenshot scroll search search_result search_result_location searching server " +
    "server_error server_tool_use shell shell_call shell_call_output signature_delta " +
    "skill_reference srt standard standard_only stop stop_sequence " +
    "str_replace_based_edit_tool str_replace_editor summarized summary_text system text " +
    "text/plain text_completion text_delta text_editor_20250124 text_editor_20250429 " +
    "text_editor_20250728 text_editor_code_execution " +
    "text_editor_code_execution_create_result " +
    "text_editor_code_execution_str_replace_result text_editor_code_execution_tool_result " +
    "text_editor_code_execution_tool_result_error text_editor_code_execution_view_result " +
    "thinking thinking_delta thread.message timeout timeout_error too_many_requests tool " +
    "tool_calls tool_reference tool_result tool_search tool_search_call tool_search_output " +
    "tool_search_tool_bm25 tool_search_tool_bm25_20251119 tool_search_tool_regex " +
    "tool_search_tool_regex_20251119 tool_search_tool_result tool_search_tool_result_error " +
    "tool_search_tool_search_result tool_use transparent type ubuntu unavailable " +
    "unsupported_content_type unsupported_image_media_type update_file url url_citation " +
    "url_not_accessible url_not_allowed url_not_in_prior_context url_too_long user " +
    "vector_store_timeout verbose_json vtt wait wav web_fetch web_fetch_20250910 " +
    "web_fetch_20260209 web_fetch_20260309 web_fetch_result web_fetch_tool_result " +
    "web_fetch_tool_result_error web_search web_search_20250305 web_search_2025_08_26 " +
    "web_search_20260209 web_search_call web_search_call.action.sources " +
    "web_search_call.results web_search_preview web_search_preview_2025_03_11 " +
    "web_search_result web_search_result_location web_search_tool_result " +
    "web_search_tool_result_error webp wheel windows xhigh"
  ).split(" "),
);
