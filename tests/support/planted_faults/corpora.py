"""Faults planted in what is read."""

from planted_faults.kinds import Faults

FAULTS: Faults = {
    "attnlab/corpora/grammar": {
        "test_every_word_of_either_side_is_aligned": [
            ("first words alone aligned", "for j in range(len(others))", "for j in range(1)"),
        ],
        "test_entries_of_several_words": [
            ("word by word", "for i in range(len(words)) for j", "for i in range(1) for j"),
        ],
        "test_parts_keep_their_alignment_wherever_they_stand": [
            ("English places not moved on", "(len(english) + i, starts", "(i, starts"),
            ("Lingo places not moved on", "starts[place] + j)", "j)"),
            ("Lingo in the order of English", "for place in order:", "for place in sorted(order):"),
        ],
        "test_an_alignment_crosses_where_two_lines_do": [
            ("lines that part taken for crossing", "i < k and j > m", "i <= k and j > m"),
        ],
        "test_aligned_words_are_each_other_s_translation": [
            ("another stem", "lingo[:-1] + ending", "lingo[:-2] + ending"),
            ("the future left out in Lingo", '"era" + "n"', '"e" + "n"'),
        ],
        "test_what_describes_a_noun_ends_as_it_does": [
            (
                "adjectives always in o",
                'described.insert(0, entry(word, stem.replace("-", ending)))',
                'described.insert(0, entry(word, stem.replace("-", "o")))',
            ),
            (
                "determiners always in o",
                '[entry(word, stem.replace("-", ending)), *described]',
                '[entry(word, stem.replace("-", "o")), *described]',
            ),
            (
                "adjectives in the order of English",
                "order=[0, *range(1, len(described))[::-1]]",
                "order=range(len(described))",
            ),
        ],
        "test_a_verb_agrees_with_its_subject": [
            ("the future of one", '"era" + "n" * plural', '"era"'),
            ("the present of one in Lingo", '"e" + "n" * plural', '"e"'),
            ("the present of several in English", 'word + "s" * (not plural)', "word"),
            (
                "owners first",
                "order=range(len(described))[::-1]), plural",
                "order=range(len(described))), plural",
            ),
        ],
        "test_both_sides_have_the_same_number": [
            ("nouns of one in English", 'entry(noun + "s" * plural,', "entry(noun,"),
        ],
        "test_this_and_an_owner_agree_in_english": [
            ("this dogs", "PLURALS.get(word, word) if plural else word", "word"),
            ("one mark for all owners", '"\'" if owners else "\'s"', '"\'s"'),
        ],
        "test_no_adjective_comes_twice_in_a_phrase": [
            ("adjectives again", "            del unused[word]\n", "")
        ],
        "test_most_alignments_cross": [("adjectives seldom", "self.chance(0.55)", "self.chance(0.4)")],
        "test_sentences_are_short_and_long": [
            ("owners' owners without end", "if self.chance(0.2):", "if self.chance(0.4):"),
            ("another clause always", "clauses > 1 and self.chance(0.35)", "clauses > 1"),
        ],
        "test_the_same_source_writes_the_same_sentences": [
            ("chance from elsewhere", "torch.rand((), generator=self.source)", "torch.rand(())"),
            (
                "words from elsewhere",
                "torch.randint(len(words), (), generator=self.source)",
                "torch.randint(len(words), ())",
            ),
        ],
    },
    "attnlab/corpora/grammar_check": {
        "test_both_sides_of_every_pair_are_sentences": [
            ("what is owned as many as its owners", 'number = ""  # what', "pass  # what"),
            (
                "one owner alone",
                '            self.take("possessive")\n            self.phrase()',
                '            self.take("possessive")',
            ),
        ],
        "test_a_sentence_less_one_word_that_is_no_adjective_is_none": [
            (
                "no object needed",
                'if self.verb(self.phrase()) == "transitive verb":',
                'self.verb(self.phrase())\n        if not self.sees("end", "preposition", "conjunction"):',
            ),
        ],
        "test_what_is_wrong_in_english": [
            ("any number", "agreeing and form and form != agreeing", "False"),
            (
                "no number after a determiner",
                'number = self.take("noun", number)',
                'number = self.take("noun")',
            ),
            ("owners of any number", 'self.take("possessive", number)', 'self.take("possessive")'),
            ("the verb after will as without", 'number = "plural"\n', "pass\n"),
            ("nothing said at the end", 'came = "nothing" if', 'came = "" if'),
            ("places counted from 0", "word {self.place + 1} must", "word {self.place} must"),
        ],
        "test_what_is_wrong_in_lingo": [
            ("adjectives of any ending", 'self.take("adjective", ending)', 'self.take("adjective")'),
            (
                "a noun of any ending",
                '"" if owned else self.take("determiner")',
                '("" if owned else self.take("determiner")) and ""',
            ),
            (
                "se before all",
                'return self.take_verb(number, "reflexive verb")',
                "return self.take_verb(number, *VERBS)",
            ),
            ("no se before any", '"transitive verb", "intransitive verb")', "*VERBS)"),
            ("a verb for one", '"plural" if ending.endswith("s") else "singular"', '"singular"'),
        ],
    },
    "attnlab/corpora/reviews": {
        "test_rows_are_ragged_and_filled_up_at_the_back": [
            ("as many long ones as short ones", "generator=source).square()", "generator=source)"),
            ("filled up one place early", ">= lengths[:, None], PADDING", ">= lengths[:, None] - 1, PADDING"),
        ],
        "test_every_review_has_an_opinion_and_most_agree_with_its_verdict": [
            ("opinions of their own", "generator=source) < 0.85)", "generator=source) < 0.5)"),
            ("short reviews without any", "has_it = (opinion == 0) | ", "has_it = "),
        ],
        "test_opinions_stand_mostly_near_the_two_ends": [
            ("opinions anywhere", "torch.where(where < 0.85, from_the_end, anywhere)", "anywhere"),
        ],
    },
    "attnlab/corpora/text": {
        "TestFolder::test_the_sample_is_never_taken_unasked": [
            ("sample taken for the data", "if sample:", "if True:"),
            ("sample not offered", 'ask = "" if sample else', 'ask = "" if True else'),
        ],
        "TestFolder::test_the_readers_own_data_come_before_the_sample": [
            ("own data never hidden", "sample and os.environ.get(ONLY_SAMPLE_VARIABLE)", "False"),
            ("own data taken for the sample", 'is_relative_to(root / "sample")', "is_relative_to(root)"),
        ],
        "TestFolder::test_half_a_data_set_is_none": [
            ("half a data set read", "if not missing:", "if len(missing) < len(NEEDED[name]):"),
        ],
        "TestWikiText2::test_is_what_torchtext_reads": [
            ("downloaded", "path=str(folder(WIKITEXT2, sample, root))", "root=str(root / 'nowhere')"),
        ],
        "TestImdb::test_reviews_come_in_the_order_of_their_numbers": [
            ("12 before 2", 'return int(file.stem.partition("_")[0]), file.stem', "return file.stem"),
        ],
        "TestImdb::test_a_review_is_read_to_its_end": [
            (
                "first line alone",
                '" ".join(file.read_text(encoding="utf-8").splitlines())',
                "file.open().readline()",
            ),
        ],
        "TestByLength::test_neighbours_in_length_share_a_batch": [
            ("nothing sorted by length", "sort_within_batch=True", "sort_within_batch=False"),
        ],
        "TestByLength::test_the_seed_alone_decides_the_order": [
            ("seed ignored", "random.seed(seed)", "pass"),
        ],
        "TestByLength::test_leaves_pythons_random_numbers_alone": [
            ("generator left seeded", "random.setstate(before)", "pass"),
        ],
        "TestNextTokenBatches::test_the_field_keeps_its_eos_token": [
            ("end of sentence cleared", "field.eos_token = eos_token", "pass"),
        ],
    },
    "attnlab/corpora/agreement": {
        "test_chances_sum_to_1_in_every_state": [
            ("nouns in both numbers too likely", "chance * (1 - PLURAL), singular", "chance, singular"),
        ],
        "test_every_drawn_sentence_is_read": [
            (
                "nothing drawn behind the last word but one",
                "state = options[words[-1]][1]",
                "state = FIRST if words[-1] == 'that' else options[words[-1]][1]",
            ),
        ],
        "test_there_are_at_most_four_additions_and_sometimes_four": [
            ("additions not counted", "additions=state.additions + 1", "additions=state.additions"),
        ],
        "test_a_verb_put_into_the_other_number_is_a_fault": [
            (
                "plural verbs with an s",
                'ending = "s" if number == "singular"',
                'ending = "s" if number == "plural"',
            ),
        ],
        "test_surprises_sum_to_the_logarithm_of_a_sentences_chance": [
            (
                "in bits",
                "math.log(1 / following(state)[word][0])",
                "math.log2(1 / following(state)[word][0])",
            ),
            ("all words of a kind alike", "{word: 1 / rank / total for", "{word: 1 / len(words) for"),
        ],
        "test_expected_is_the_mean_over_all_sentences": [
            (
                "states not weighed",
                "nats += chance * (more_nats - math.log(chance))",
                "nats += more_nats - math.log(chance)",
            ),
            (
                "words not weighed",
                "words += chance * more_words",
                "words += more_words / len(following(state))",
            ),
        ],
        "test_a_fault_is_named_at_its_word": [
            (
                "words counted from 0",
                "place, word in enumerate(words, start=1)",
                "place, word in enumerate(words)",
            ),
            (
                "a sentence without its end",
                '    if state is not None:\n        raise ValueError(f"words must',
                '    if False:\n        raise ValueError(f"words must',
            ),
        ],
        "test_verb_and_subject_are_the_outer_ones": [
            (
                "the subject of a clause",
                'places.index("subject")',
                'len(places) - 1 - places[::-1].index("subject of clause")',
            ),
        ],
    },
    "attnlab/corpora/docstrings": {
        "test_a_file_is_read_from_the_outside_in": [
            ("no docstrings of modules", "(ast.Module, ast.ClassDef,", "(ast.ClassDef,"),
            ("no docstrings of coroutines", "ast.FunctionDef, ast.AsyncFunctionDef)", "ast.FunctionDef)"),
            (
                "the code's indentation kept",
                "ast.get_docstring(node)",
                "ast.get_docstring(node, clean=False)",
            ),
        ],
        "test_a_text_has_200_characters_or_more": [
            ("a text of 200 left out", ">= SHORTEST", "> SHORTEST"),
        ],
        "test_what_is_no_python_of_ours_has_none": [
            ("warnings of other people's code", 'warnings.simplefilter("ignore")', "pass"),
            ("a template breaks off", "except SyntaxError:", "except KeyError:"),
            ("a file of another encoding breaks off", ', errors="replace")', ")"),
        ],
        "test_files_are_read_in_the_order_of_their_names_and_never_imported": [
            ("in any order", "names = sorted(", "names = list("),
            ("only the outermost folder", 'folder.rglob("*.py")', 'folder.glob("*.py")'),
        ],
        "test_a_package_that_is_not_here_is_refused": [
            ("a module taken for a package", "or not spec.submodule_search_locations", "or False"),
        ],
        "test_one_file_in_twenty_is_held_out": [
            ("one file in ten", "HELD_OUT = 20", "HELD_OUT = 10"),
        ],
        "test_what_is_held_out_hangs_on_the_name_alone": [
            ("another choice in each process", "zlib.crc32(name.encode())", "hash(name)"),
            ("the package left out", 'is_held_out(f"{package}/{name}")', "is_held_out(name)"),
        ],
        "test_a_copy_is_left_out_and_the_first_stays": [
            ("copies kept", "if len(runs & before) <= most * len(runs):", "if True:"),
            ("spaces make another text", "split = text.split()", 'split = text.split(" ")'),
        ],
        "test_a_near_copy_has_more_than_three_runs_of_ten_in_common": [
            ("half is not yet a copy", "most: float = 0.3", "most: float = 0.5"),
            ("runs of five", "words: int = 6", "words: int = 5"),
            ("the last run forgotten", "len(split) - words + 1", "len(split) - words"),
        ],
        "test_exactly_three_in_ten_stay": [
            ("three in ten are a copy", "<= most * len(runs)", "< most * len(runs)"),
        ],
        "test_a_short_text_is_one_run": [
            ("short texts have no run", "max(1, len(split)", "max(0, len(split)"),
        ],
        "test_a_text_that_is_left_out_counts_as_nothing": [
            ("left out, and read", "            before |= runs", "        before |= runs"),
        ],
        "test_what_was_seen_counts_and_grows": [
            ("what was seen forgotten", "set() if seen is None else seen", "set()"),
            ("what was seen copied", "set() if seen is None else seen", "set(seen or ())"),
        ],
        "test_nothing_of_validation_is_trained_on": [
            ("copies of validation trained on", "for text in read(name)), seen)", "for text in read(name)))"),
            ("copies within validation", "held_out=True)), seen)", "held_out=True)), set())"),
        ],
        "test_of_a_real_package_no_text_is_trained_on_that_is_held_out": [
            ("names read only once", "    packages = list(packages)\n", ""),
        ],
        "test_a_digest_is_of_all_texts_in_their_order": [
            ("borders of texts lost", '"\\0".join(texts)', '"".join(texts)'),
            ("in any order", '"\\0".join(texts)', '"\\0".join(sorted(texts))'),
        ],
    },
    "attnlab/corpora/pieces": {
        "test_every_text_comes_back": [
            (
                "a byte joined from the right",
                "self.bytes[left] + self.bytes[right]",
                "self.bytes[right] + self.bytes[left]",
            ),
            (
                "letters one by one",
                "self._merged(list(chunk.encode()))",
                "self._merged([ord(sign) % 256 for sign in chunk])",
            ),
        ],
        "test_chunks_are_all_of_a_text": [
            ("underscores lost", r"(?:[^\s\w]|_)+", r"(?:[^\s\w])+"),
            ("numbers of any length", r"\d{1,3}", r"\d+"),
        ],
        "test_chunks_are_words_numbers_signs_and_spaces": [
            ("no word with its space", r" ?[^\W\d_]+", r"[^\W\d_]+"),
            ("all spaces together", r"\s+(?!\S)|\s+", r"\s+"),
        ],
        "test_half_a_letter_becomes_a_sign_that_says_so": [
            ("half a letter breaks off", 'decode(errors="replace")', "decode()"),
            ("half a letter lost", 'decode(errors="replace")', 'decode(errors="ignore")'),
        ],
        "test_the_end_is_the_last_piece_and_has_no_letters": [
            ("no piece for the end", '        self.bytes.append(b"")\n', ""),
            ("an end that is read", 'append(b"")', 'append(b"|")'),
        ],
        "test_of_two_merges_the_earlier_goes_first": [
            (
                "the latest merge first",
                "first = min(pairwise(ids), key=lambda pair: self.rank.get(pair, len(self.rank)))",
                "first = max(pairwise(ids), key=lambda pair: self.rank.get(pair, -1))",
            ),
            (
                "the first pair first",
                "min(pairwise(ids), key=lambda pair: self.rank.get(pair, len(self.rank)))",
                "next((pair for pair in pairwise(ids) if pair in self.rank), (-1, -1))",
            ),
            (
                "a merge that comes again goes last",
                "self.rank.setdefault((left, right), place)",
                "self.rank[left, right] = place",
            ),
            ("only one merge", "        while len(ids) > 1:", "        for _ in range(len(ids) > 1):"),
        ],
        "test_joined_goes_from_left_to_right": [
            ("the new one stands behind", "            out[-1] = new", "            out.append(new)"),
        ],
        "test_learned_merges_are_those_of_a_naive_recount": [
            (
                "a chunk counted once",
                "pairs[pair] += times[place]\n            holding[pair].add(place)\n    merges",
                "pairs[pair] += 1\n            holding[pair].add(place)\n    merges",
            ),
            ("old pairs keep their counts", "pairs[pair] -= times[place]", "pairs[pair] -= 0"),
            (
                "new pairs held nowhere",
                "                holding[pair].add(place)\n        del",
                "                pass\n        del",
            ),
            (
                "of equals the first seen",
                "key=lambda pair: (pairs[pair], pair))",
                "key=lambda pair: pairs[pair])",
            ),
            ("pairs that stand there once", "if pairs[best] < 2:", "if pairs[best] < 1:"),
        ],
        "test_a_vocabulary_has_the_size_that_was_asked_for_or_what_the_text_yields": [
            ("no room for the end", "vocabulary - BYTES - 1 and pairs", "vocabulary - BYTES and pairs"),
            ("a text that yields no more breaks off", "BYTES - 1 and pairs:", "BYTES - 1:"),
        ],
        "test_the_tokenizers_library_cuts_alike": [
            ("letters of ASCII alone", r"[^\W\d_]+|\d", r"[a-zA-Z]+|\d"),
        ],
        "test_merges_of_another_vocabulary_are_refused": [
            ("merges unchecked", "            require.merge(pair, place, BYTES + place)\n", ""),
            (
                "a merge of itself",
                "require.merge(pair, place, BYTES + place)",
                "require.merge(pair, place, BYTES + place + 1)",
            ),
        ],
        "test_ids_of_another_vocabulary_are_refused": [
            ("ids unchecked", "        require.ids_below(len(self), ids)\n", ""),
        ],
        "test_nothing_can_be_learned_from_nothing": [
            ("a text of nothing", "    require.some_text(text)\n", ""),
            ("a vocabulary below the bytes", "    require.at_least(BYTES + 1, vocabulary=vocabulary)\n", ""),
        ],
    },
}
