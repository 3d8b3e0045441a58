"""Keys of any config.json that change neither the structure nor a size: tokens, generation, housekeeping."""

from __future__ import annotations

_NAMES = """
    architectures model_type transformers_version torch_dtype dtype _name_or_path name_or_path _commit_hash
    _attn_implementation attn_implementation _attn_implementation_autoset _flash_attn_2_enabled use_cache use_bfloat16
    bos_token_id eos_token_id pad_token_id sep_token_id cls_token_id mask_token_id unk_token_id decoder_start_token_id
    output_attentions output_hidden_states output_scores return_dict use_return_dict return_dict_in_generate torchscript
    tf_legacy_loss chunk_size_feed_forward id2label label2id num_labels problem_type finetuning_task
    task_specific_params tokenizer_class prefix pruned_heads initializer_range quantization_config is_decoder
    is_encoder_decoder tie_encoder_decoder cross_attention_hidden_size max_length min_length max_new_tokens do_sample
    early_stopping num_beams num_beam_groups diversity_penalty temperature top_k top_p typical_p repetition_penalty
    length_penalty no_repeat_ngram_size encoder_no_repeat_ngram_size bad_words_ids num_return_sequences
    forced_bos_token_id forced_eos_token_id remove_invalid_values exponential_decay_length_penalty suppress_tokens
    begin_suppress_tokens
"""

HARMLESS = frozenset(_NAMES.split())
"""The names of those keys. Quantisation changes how many bytes a parameter takes, not how many there are."""
