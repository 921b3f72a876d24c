"""Faults planted in how a model learns, and in what is told of the trainings in the pages."""

from planted_faults.kinds import Faults

WORDS, PAGE = "site/test_training_words.py::", "site/test_training_page.py::"

FAULTS: Faults = {
    "_static/training/page/words.js": {
        f"{WORDS}test_who_ends_below_the_limit_is_said_to_have_read_the_answers": [
            ("nothing too good to be true", "loss < TOO_GOOD * limit", "loss < 0"),
            ("luck called a leak", "loss < TOO_GOOD * limit", "loss < limit"),
        ],
        f"{WORDS}test_of_ten_seeds_it_is_said_how_many_read_and_that_is_not_called_better": [
            ("a leak called better", "if (read) return", "if (false) return"),
        ],
        f"{WORDS}test_each_side_is_called_by_what_it_has": [
            ("a change where there is none", "changed.length ? second", "true ? second"),
            ("what both have alike", "(changed.length ? changed : own)", "own"),
        ],
        f"{WORDS}test_of_many_seeds_a_table_has_the_means": [
            ("the first seed for all", "const far = lanes.filter", "const far = lanes.slice(0, 3).filter"),
        ],
        f"{PAGE}test_two_lanes_race_to_their_end_and_what_came_of_it_is_said_once": [
            ("means of all steps so far", "slice(step - told.every, step)", "slice(0, step)"),
        ],
    },
    "_static/training.js": {
        f"{PAGE}test_what_steers_it_is_in_view_as_it_opens[phone]": [
            ("it stays out of view", 'bench.steering.scrollIntoView({ block: "nearest" });', ""),
        ],
        f"{PAGE}test_what_steers_it_is_in_view_as_it_opens[wide]": [
            ("what is in view moves", 'scrollIntoView({ block: "nearest" });', "scrollIntoView();"),
        ],
    },
    "_static/training/page/bench.css": {
        f"{PAGE}test_no_curve_runs_through_a_number": [
            ("numbers within the field", "right: calc(100% + 0.3rem)", "left: 0"),
        ],
    },
    "bookkit/training/cell": {
        "bookkit/training/test_pages.py::test_the_cell_prints_the_pages_curve": [
            ("single losses", "sum(losses[-{every}:]) / {every}", "losses[-1]"),
            ("steps counted from 0", "(step + 1) % {prints}", "step % {prints}"),
        ],
    },
    "attnlab/training/batches": {
        "test_iterations_per_epoch_of_the_book": [
            ("floor for ceil", "return math.ceil(share / batch_size)", "return share // batch_size"),
            ("workers ignored", "share = math.ceil(examples / workers)", "share = examples"),
            ("share rounded down", "share = math.ceil(examples / workers)", "share = examples // workers"),
            ("drop_last ignored", "if drop_last:", "if False:"),
        ],
        "test_dropping_the_last_batch_drops_only_that": [
            ("drop_last lost on the way", "batch_size, drop_last)", "batch_size)"),
        ],
        "test_shuffled_batches_hold_every_example_once_and_keep_it_whole": [
            ("never shuffled", "torch.randperm(examples, generator=self.shuffle)", "torch.arange(examples)"),
            ("shuffled by another generator", "examples, generator=self.shuffle", "examples"),
        ],
        "test_a_tuple_of_tensors_is_one_batch_and_the_rest_stays_as_it_is": [
            ("one example to a batch", "batch_size=len(data[0])", "batch_size=1"),
            ("a tuple of batches taken for one", "any(isinstance(part, Tensor) for part in data)", "True"),
            ("an iterator refused for one epoch", "epochs > 1", "epochs > 0"),
        ],
        "test_batches_move_to_the_device_of_the_model": [
            ("batches never moved", "part.to(device)", "part"),
            ("targets first", "*inputs, targets = (part", "targets, *inputs = (part"),
        ],
        "test_what_cannot_work_is_refused_in_words": [
            ("no batch at all", "if self.iterations == 0:", "if False:"),
            ("batches unchecked", "require.batch(batch)", "pass"),
        ],
    },
    "attnlab/training/history": {
        "test_counts_what_it_holds": [
            ("iterations counted by epochs", "len(self.iteration_losses)", "len(self.training_losses)"),
            ("epochs counted by iterations", "len(self.training_losses)", "len(self.iteration_losses)"),
        ],
        "test_metrics_stand_beside_their_losses": [
            (
                "last metric alone",
                "self.validation_metrics += metrics",
                "self.validation_metrics = [*metrics]",
            ),
        ],
        "test_the_best_epoch_is_the_first_with_the_smallest_loss": [
            ("best epoch counted from 0", "(self.validation_losses)) + 1", "(self.validation_losses))"),
            ("largest loss taken for the best", "min(self.validation_losses)", "max(self.validation_losses)"),
        ],
        "test_a_loss_that_is_no_finite_number_raises_and_says_where": [
            ("epoch of the loss counted from 0", "{self.epochs + 1}", "{self.epochs}"),
            (
                "iteration of the loss counted from 0",
                "at iteration {self.iterations}",
                "at iteration {self.iterations - 1}",
            ),
        ],
    },
    "attnlab/training/progress": {
        "test_a_terminal_shows_a_bar_and_wipes_it": [
            ("bar left on the screen", "leave=False,", "leave=True,"),
            ("nothing counted", "total=total", "total=None"),
            ("bar among the warnings", "file=sys.stdout", "file=sys.stderr"),
        ],
        "test_a_short_wait_shows_nothing": [
            ("a bar at once", "delay=PATIENCE", "delay=0"),
        ],
        "test_no_bar_when_asked_for_quiet": [
            ("quiet not asked for", "if os.environ.get(QUIET_VARIABLE):", "if False:"),
        ],
        "test_no_bar_in_a_file_or_pipe": [
            ("every file a terminal", "return sys.stdout.isatty()", "return True"),
        ],
        "test_a_notebook_shows_a_bar_to_a_person_and_none_to_a_program": [
            ("no bar in a notebook", 'kernel.get_parent("shell")["content"].get("allow_stdin")', "False"),
            ("a bar for every notebook", '"allow_stdin")', '"silent") is False'),
        ],
    },
    "attnlab/training/loop": {
        "test_the_loop_is_the_one_written_by_hand": [
            ("gradients never zeroed", "optimizer.zero_grad()", "pass"),
            ("weights never updated", "optimizer.step()", "pass"),
            ("losses of all epochs in each mean", "iteration_losses[-len(examples) :]", "iteration_losses"),
        ],
        "test_learning_with_dropout_measuring_without": [
            ("trained in eval mode", "model.train()", "model.eval()"),
            ("measured in training mode", "model.eval()\n    numbers", "numbers"),
            ("left in training mode", "model.eval()\n    return history", "return history"),
        ],
        "test_evaluate_keeps_nothing_for_a_backward_pass": [
            ("measured with gradients", "with torch.no_grad():", "with torch.enable_grad():"),
        ],
        "test_evaluate_counts_each_batch_by_its_examples": [
            ("a small batch counts as a full one", "total / sum(examples)", "sum(numbers) / len(numbers)"),
        ],
        "test_early_stopping_waits_and_puts_the_best_weights_back": [
            ("best weights not restored", "model.load_state_dict(best_weights)", "pass"),
            ("best weights not copied", "copy.deepcopy(model.state_dict())", "model.state_dict()"),
            ("one epoch too patient", "best_epoch == patience", "best_epoch > patience"),
        ],
        "test_a_loss_that_is_no_number_stops_training_before_it_spoils_the_weights": [
            (
                "NaN trained on",
                'history.add_iteration(_as_number("loss", batch_loss))',
                'history.iteration_losses.append(_as_number("loss", batch_loss))',
            ),
        ],
        "test_what_cannot_work_is_refused_in_words": [
            ("optimizer of another model", "require.optimizer_of(model, optimizer)", "pass"),
            (
                "patience without validation",
                "validation, metric=metric, patience=patience",
                "validation, metric=metric",
            ),
        ],
        "test_a_terminal_shows_epoch_iterations_and_loss": [
            ("bar of one epoch", "epochs * operator", "1 * operator"),
            ("bar never moved", "bar.update()", "pass"),
        ],
    },
    "attnlab/training/many_seeds": {
        "test_many_seeds_leave_the_models_alone_and_do_what_they_do": [
            ("one seed's weights for all", "tensor.detach() for tensor", "tensors[0].detach() for _"),
            ("weights of the first model used up", "copy.deepcopy(models[0])", "models[0]"),
        ],
        "test_tied_parameters_stay_tied_and_buffers_are_stacked": [
            (
                "buffers of the first seed for all",
                "chain(model.parameters(), model.buffers())",
                "chain(model.parameters())",
            ),
        ],
        "test_each_seed_draws_its_own_dropout_while_it_trains": [
            ("one dropout for all seeds", 'randomness="different"', 'randomness="same"'),
        ],
        "test_seeds_trained_together_equal_the_seeds_trained_alone": [
            ("losses of seeds averaged", "losses(outputs, targets).sum()", "losses(outputs, targets).mean()"),
        ],
        "test_what_cannot_be_stacked_is_refused_in_words": [
            ("models unchecked", "require.same_weights(models)", "pass"),
        ],
    },
    "attnlab/training/distributed_worker": {
        "test_another_order_in_each_epoch": [
            ("one order for all epochs", "sampler.set_epoch(epoch)", "pass"),
        ],
        "test_two_processes_do_what_one_does_with_batches_twice_as_large": [
            ("gradients not averaged", "model = DistributedDataParallel(network)", "model = network"),
            ("losses summed over the processes", " / distributed.get_world_size()", ""),
        ],
        "test_with_a_gpu_for_each_every_process_takes_its_own": [
            ("the first GPU for all", "torch.cuda.set_device(device)", "pass"),
            ("a group that guesses the GPU", ", device_id=device", ""),
        ],
    },
}
