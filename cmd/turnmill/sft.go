package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"go.yaml.in/yaml/v3"

	"github.com/turnmill/turnmill/filter/judge/endpoint"
	"github.com/turnmill/turnmill/filter/reject"
	"github.com/turnmill/turnmill/pipelines"
	"github.com/turnmill/turnmill/stats"
)

// sftFlags are the flags that sft alone has.
var sftFlags = [...]string{"rollouts", "judgements", "targets", "samples", "threshold", "pairs", "loss", "think-prompt", "compat", "drop-leakage", "verifiers", "meta-verifiers", "max-prompt",
	"rollout-model", "judge-model", "temperature", "top-p", "max-tokens", "judge-temperature", "judge-top-p", "judge-max-tokens", "judge-attempts", "rollout-price", "judge-price", "batch-requests",
	"rollout-url", "judge-url", "max-in-flight", "budget-requests", "budget-tokens", "budget-cost", "request-timeout"}

// maskFlags are the flags of cpt that sft leaves out: what was chosen is trained, without a mask.
var maskFlags = [...]string{"objective", "mask", "copied-keep", "mask-table", "profile", "keep-thought", "beyond", "dedup", "near-threshold", "decontaminate", "mix"}

func newSFT(s streams) *cobra.Command {
	o := &cptOptions{Options: pipelines.DefaultOptions()}
	o.Pipeline = "sft"
	cmd := &cobra.Command{
		Use:   "sft INPUT... -o OUT",
		Short: "Queries with rollouts into judged, selected, tokenised shards",
		Long: `sft draws turns of the trajectories that it reads, looks up what models answered to them and what judges said of
the answers, chooses one answer a query, or none, and writes OUT: a Hugging Face datasets directory in OUT/train
with reasoning and answer as targets, OUT/queries with the one end of every query, OUT/replies with the raw answers
that were used, everything lost in OUT/rejects, and OUT/manifest.json.

Answers are joined by the query's id, the trajectory's id, @ and the turn's index, and the number of the rollout.
--rollouts and --judgements name files of them in the usual shapes; .gz and .zst are read through.

INPUT is what turnmill cpt takes. The same command on an interrupted OUT goes on where it stopped.`,
		Example: `  turnmill sft runs/ --rollouts rollouts.jsonl --judgements judged.jsonl -o out --tokenizer qwen3/tokenizer.json
  turnmill sft runs/ --rollouts 'batch/*.jsonl' --judgements judged/ -o out --tokenizer demo --targets all
  turnmill sft -c recipe.yaml --dry-run`,
		Args: cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := o.resolve(cmd.Flags(), args); err != nil {
				return err
			}
			o.Stdin = s.in
			return runCPT(cmd.Context(), s, o)
		},
	}
	cmd.Flags().AddFlagSet(without(o.flags(), o.unused()))
	return cmd
}

// addSFT declares the flags of sft alone.
func (o *cptOptions) addSFT(fs *pflag.FlagSet) {
	q := &o.SFT
	if o.Pipeline != "sft" {
		q.Pool = "cpt"
	}
	fs.StringSliceVar(&q.Rollouts, "rollouts", nil, "`FILE`, directory or glob of recorded answers to queries; may be given again")
	fs.StringSliceVar(&q.Judgements, "judgements", nil, "`FILE`, directory or glob of recorded answers of judges; may be given again")
	fs.StringVar(&q.Targets, "targets", q.Targets, "turns of a trajectory that are asked for: a number `N`, drawn by seed; all; eval (first, last and three between)")
	decimalVar(fs, &q.Samples, "samples", "rollouts `N` of a query; with fewer complete ones it is no candidate")
	fs.StringVar(&q.Threshold, "threshold", q.Threshold, "least mean `X` of a winner's five scores, 0 to 5; equality keeps")
	fs.StringVar(&q.Pairs, "pairs", q.Pairs, "`WHICH` rollouts are compared in pairs: above (the threshold), all, tied (the best mean), none")
	fs.StringVar(&q.Loss, "loss", q.Loss, "`PART` of an answer that carries loss: both, reasoning, answer")
	fs.BoolVar(&q.ThinkPrompt, "think-prompt", q.ThinkPrompt, "the model's prompt for an answer ends with <think>, as QwQ's, Qwen3-Thinking's and Qwen3.5's do: the tag is not trained")
	fs.BoolVar(&q.Compat, "compat", false, "the released evaluator's arithmetic: scores clamped to 1-5, missing ones left out of the mean")
	fs.BoolVar(&q.DropLeakage, "drop-leakage", false, "a rollout whose reasoning speaks of an answer that it must not have seen is no contender")
	fs.StringVar(&q.Verifiers, "verifiers", "", "`FILE` of verifiers, one line a query: rewards are hybrid where one is kept")
	fs.BoolVar(&q.MetaVerifiers, "meta-verifiers", false, "verifiers that trajectories carry in their meta are asked too; their programs run in the sandbox")
	fs.StringVar(&q.RolloutModel, "rollout-model", "", "`NAME` of the model that is asked for the rollouts that no file holds")
	fs.StringVar(&q.JudgeModel, "judge-model", "", "`NAME` of the model that is asked for the judgements that no file holds")
	fs.StringVar(&q.Rollout.Temperature, "temperature", "", "sampling temperature `X` of rollouts; default: the endpoint's")
	fs.StringVar(&q.Rollout.TopP, "top-p", "", "nucleus `X` of rollouts; default: the endpoint's")
	decimalVar(fs, &q.Rollout.MaxTokens, "max-tokens", "longest rollout in tokens, `N`; 0: the endpoint's own")
	fs.StringVar(&q.Judge.Temperature, "judge-temperature", "", "sampling temperature `X` of judges; default: the endpoint's")
	fs.StringVar(&q.Judge.TopP, "judge-top-p", "", "nucleus `X` of judges; default: the endpoint's")
	decimalVar(fs, &q.Judge.MaxTokens, "judge-max-tokens", "longest answer of a judge in tokens, `N`; 0: the endpoint's own")
	fs.StringVar(&o.Ask.BatchRequests, "batch-requests", "", "`DIR` for files of what is missing, as requests to a batch API, in place of asking: exit code 75 while anything is")
	decimalVar(fs, &q.Attempts, "judge-attempts", "`N` attempts at a judgement that cannot be read")
	fs.StringVar(&q.RolloutPrice, "rollout-price", "", "price of a million tokens of rollouts: prompts and completions, as in `0.60,2.40`; the manifest says what they cost")
	fs.StringVar(&q.JudgePrice, "judge-price", "", "so of judges, `IN,OUT`")
	o.addAsk(fs)
	fs.StringVar(&q.Pool, "pool", q.Pool, "`NAME` of the pool that this set is; of sft: sft, or rl, which writes prompts and needs no rollouts")
	decimalVar(fs, &q.MaxPrompt, "max-prompt", "longest prompt of the pool rl, `N` tokens; longer ones are dropped, not cut")
	fs.StringVar(&o.pools, "pools", "", "YAML `FILE`: the sources of each pool; what comes from other pools' sources is dropped")
}

// addAsk declares the flags that say how endpoints are asked; they change no question.
func (o *cptOptions) addAsk(fs *pflag.FlagSet) {
	a := &o.Ask
	fs.StringVar(&a.RolloutURL, "rollout-url", "", "`URL` of the endpoint of --rollout-model, as in https://host/v1; default: OPENAI_BASE_URL; its key is OPENAI_API_KEY")
	fs.StringVar(&a.JudgeURL, "judge-url", "", "`URL` of the endpoint of --judge-model; default: OPENAI_BASE_URL")
	decimalVar(fs, &a.MaxInFlight, "max-in-flight", "requests at a time, `N` for each endpoint; 0: 16")
	decimalVar(fs, &a.Budget.Requests, "budget-requests", "requests `N` that each endpoint is sent at most, retries included, those in the journals counted; 0: no bound")
	decimalVar(fs, &a.Budget.Tokens, "budget-tokens", "tokens `N` after which each endpoint is asked no more, prompts included; 0: no bound")
	fs.Var((*moneyValue)(&a.Budget.Cost), "budget-cost", "amount `X` after which each endpoint is asked no more, by --rollout-price and --judge-price; 0: no bound")
	fs.DurationVar(&a.Timeout, "request-timeout", 0, "`TIME` of one request, as in 90s; 0: 10m")
}

// fromEnv fills what flags leave open from the variables of OpenAI's own clients.
func (o *cptOptions) fromEnv(getenv func(string) string) {
	url := getenv("OPENAI_BASE_URL")
	o.Ask.RolloutURL, o.Ask.JudgeURL = cmp.Or(o.Ask.RolloutURL, url), cmp.Or(o.Ask.JudgeURL, url)
	o.Ask.Key = endpoint.NewSecret(getenv("OPENAI_API_KEY"))
}

// moneyValue is a flag with an amount of money.
type moneyValue endpoint.Money

// Set reads an amount in decimals.
func (m *moneyValue) Set(text string) error {
	amount, err := endpoint.ParseMoney(text)
	*m = moneyValue(amount)
	return err
}

// String returns the amount.
func (m *moneyValue) String() string {
	if m == nil {
		return "0"
	}
	return endpoint.Money(*m).String()
}

// Type is what help calls a value without a name.
func (m *moneyValue) Type() string { return "amount" }

// readPools reads the YAML file of --pools, strictly.
func readPools(name string) (pipelines.Pools, error) {
	data, err := readSmall(name)
	if err != nil {
		return nil, usage(fmt.Errorf("--pools: %w", err))
	}
	pools := pipelines.Pools{}
	d := yaml.NewDecoder(bytes.NewReader(data))
	if err := d.Decode(&pools); err != nil {
		if errors.Is(err, io.EOF) {
			err = errors.New("the file is empty; want a list of sources for each pool, as in sft: [source-a, source-b]")
		}
		return nil, usage(yamlErrors(name, err, nil))
	}
	if err := oneDocument(d); err != nil {
		return nil, usage(yamlErrors(name, err, nil))
	}
	return pools, nil
}

// writeRetention writes what became of the candidates of each domain, and what else there is to know of answers.
func writeRetention(w io.Writer, sum *pipelines.SFTSum) error {
	if sum == nil {
		return nil
	}
	return visibly(w, func(w io.Writer) error {
		fmt.Fprintln(w)
		if sum.Prompts != nil {
			return sum.WritePrompts(w)
		}
		if err := reject.WriteRetention(w, sum.Retention); err != nil {
			return err
		}
		fmt.Fprintln(w)
		if err := sum.Chains.WriteReasonings(w); err != nil {
			return err
		}
		if sum.Pairs() > 0 {
			fmt.Fprintln(w)
			if err := sum.Queries.WritePositions(w); err != nil {
				return err
			}
		}
		r := &sum.Replies
		fmt.Fprintf(w, "\nanswers    %s used", stats.Thousands(r.Used))
		for _, n := range []struct {
			count int64
			what  string
		}{{r.Surplus, "repeated or surplus"}, {sum.Unasked, "to what nobody asked"}} {
			if n.count > 0 {
				fmt.Fprintf(w, ", %s %s", stats.Thousands(n.count), n.what)
			}
		}
		fmt.Fprintln(w)
		if len(sum.Answers.Rejected) > 0 {
			fmt.Fprintf(w, "           rows that could not be read: %s\n", stats.Reasons(sum.Answers.Rejected))
		}
		return nil
	})
}
