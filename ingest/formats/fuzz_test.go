package formats

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// fuzzDecode checks what check does, starting from the blocks of testdata and the format's sample.
func fuzzDecode(f *testing.F, name string) {
	format := mustFormat(f, name)
	f.Add([]byte(format.Doc.Sample), false)
	text, err := os.ReadFile(filepath.Join("testdata", name+".txt"))
	if err != nil {
		f.Fatal(err)
	}
	for block := range strings.SplitSeq(string(text), "\n\n") {
		_, block, _ = strings.Cut(block, "\n")
		record, _, _ := strings.Cut(block, "\n----\n")
		f.Add([]byte(record), true)
	}
	f.Fuzz(func(t *testing.T, raw []byte, thought bool) {
		if err := check(format, Options{KeepThought: thought}, raw); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzDecodeTurnmill(f *testing.F)        { fuzzDecode(f, "turnmill") }
func FuzzDecodeOpenAIChat(f *testing.F)      { fuzzDecode(f, "openai-chat") }
func FuzzDecodeSWEAgent(f *testing.F)        { fuzzDecode(f, "swe-agent") }
func FuzzDecodeATIF(f *testing.F)            { fuzzDecode(f, "atif") }
func FuzzDecodeWorldBench(f *testing.F)      { fuzzDecode(f, "agentworldbench") }
func FuzzDecodeTauBench(f *testing.F)        { fuzzDecode(f, "tau-bench") }
func FuzzDecodeClaudeCode(f *testing.F)      { fuzzDecode(f, "claude-code") }
func FuzzDecodeCodex(f *testing.F)           { fuzzDecode(f, "codex") }
func FuzzDecodeAgentTrace(f *testing.F)      { fuzzDecode(f, "agent-trace") }
func FuzzDecodeMiniSWE(f *testing.F)         { fuzzDecode(f, "mini-swe-agent") }
func FuzzDecodeOpenHands(f *testing.F)       { fuzzDecode(f, "openhands") }
func FuzzDecodeOpenHandsV1(f *testing.F)     { fuzzDecode(f, "openhands-v1") }
func FuzzDecodeOpenHandsOutput(f *testing.F) { fuzzDecode(f, "openhands-v1-eval") }
func FuzzDecodeOpenHandsLegacy(f *testing.F) { fuzzDecode(f, "openhands-legacy") }
func FuzzDecodeInspect(f *testing.F)         { fuzzDecode(f, "inspect") }
func FuzzDecodeToolBench(f *testing.F)       { fuzzDecode(f, "toolbench") }
func FuzzDecodeToolEval(f *testing.F)        { fuzzDecode(f, "tooleval") }
func FuzzDecodeShareGPT(f *testing.F)        { fuzzDecode(f, "sharegpt") }
func FuzzDecodeTypedContent(f *testing.F)    { fuzzDecode(f, "llama-factory-v1") }
func FuzzDecodeLiveMCP(f *testing.F)         { fuzzDecode(f, "livemcpbench") }
func FuzzDecodeTauFewShot(f *testing.F)      { fuzzDecode(f, "tau-bench-few-shot") }
func FuzzDecodeInterCode(f *testing.F)       { fuzzDecode(f, "intercode") }
func FuzzDecodeReactChat(f *testing.F)       { fuzzDecode(f, "react-chat") }
func FuzzDecodeReactAlpaca(f *testing.F)     { fuzzDecode(f, "react-alpaca") }
func FuzzDecodeFireAct(f *testing.F)         { fuzzDecode(f, "fireact") }
func FuzzDecodeReactLog(f *testing.F)        { fuzzDecode(f, "react-log") }
func FuzzDecodeADP(f *testing.F)             { fuzzDecode(f, "adp") }
func FuzzDecodeNNetNav(f *testing.F)         { fuzzDecode(f, "nnetnav") }
func FuzzDecodeAndroidControl(f *testing.F)  { fuzzDecode(f, "androidcontrol") }
func FuzzDecodeM3A(f *testing.F)             { fuzzDecode(f, "m3a") }
func FuzzDecodeAutoDroid(f *testing.F)       { fuzzDecode(f, "autodroid-utg") }
func FuzzDecodeBrowserGym(f *testing.F)      { fuzzDecode(f, "browsergym") }
func FuzzDecodeBrowserGymSteps(f *testing.F) { fuzzDecode(f, "browsergym-steps") }
func FuzzDecodeWebArena(f *testing.F)        { fuzzDecode(f, "webarena-html") }
func FuzzDecodeWebShop(f *testing.F)         { fuzzDecode(f, "webshop") }
func FuzzDecodeAgentInstruct(f *testing.F)   { fuzzDecode(f, "agentinstruct") }
func FuzzDecodeDroidBot(f *testing.F)        { fuzzDecode(f, "droidbot") }
func FuzzDecodeOpenCUA(f *testing.F)         { fuzzDecode(f, "opencua") }
func FuzzDecodeLangfuse(f *testing.F)        { fuzzDecode(f, "langfuse") }
func FuzzDecodeOTLP(f *testing.F)            { fuzzDecode(f, "otlp") }
func FuzzDecodeAsciicast(f *testing.F)       { fuzzDecode(f, "asciicast") }
func FuzzDecodeOpenAIResponses(f *testing.F) { fuzzDecode(f, "openai-responses") }
func FuzzDecodeGemini(f *testing.F)          { fuzzDecode(f, "gemini") }
func FuzzDecodeAnthropic(f *testing.F)       { fuzzDecode(f, "anthropic") }
func FuzzDecodeHFRows(f *testing.F)          { fuzzDecode(f, "hf-rows") }
