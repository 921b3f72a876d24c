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
}
