package diagnose_test

import (
	"fmt"
	"strings"
	"testing"

	diagnose "github.com/signalbox-dev/signalbox/runtime-diagnose"
)

// stepsOf are lines that count steps.
func stepsOf(from, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "step %d | loss: %.3f | lr 1e-4\n", from+i, 2-float64(from+i)/1000)
	}
	return b.String()
}

const raisedKeyError = "Traceback (most recent call last):\n  File \"/app/train.py\", line 33, in main\n    run()\nKeyError: 'mask'\n"

// spokenOf are texts that speak of errors, by what tells them from reports. A run printed them that may
// be well: without steps nothing shows that it is.
var spokenOf = map[string]string{
	"a docstring, indented":          "Args:\n    device: cuda or cpu\n\nRaises:\n    RuntimeError: CUDA out of memory, if the model does not fit\n    OSError: No such file or directory\n",
	"a docstring, not indented":      "Raises:\nValueError: if the vocabulary is too large\nFileNotFoundError: when vocab_file does not exist\n",
	"a docstring, underlined":        "Raises\n------\nOSError\n    If the file cannot be read.\nUnpicklingError\n    If it is no pickle.\n",
	"a help text":                    "options:\n  --allow-missing       do not raise FileNotFoundError: [Errno 2] No such file or directory\n  --strict              ends with\n                        RuntimeError: Error(s) in loading state_dict for GPT\n",
	"a literal block":                "Known to happen:\n\n.. code:: bash\n\n    OSError: [Errno 12] Cannot allocate memory\n\nRaise the limit.\n",
	"a changelog":                    "## Changelog\n\n- RuntimeError: CUDA error: an illegal memory access was encountered, with empty shards (#812)\n* ModuleNotFoundError: No module named 'tensorboard' (#799)\n",
	"underlined known issues":        "Known issues\n############\n\nTypeError: 'NoneType' object is not iterable\n--------------------------------------------\nSeen with several traces.\n",
	"commits":                        "HEAD is now at 1f2e3d4 fix RuntimeError: Address already in use\na1b2c3d Fix KeyError: 'attention_mask' in the collator\n77aa88b ValueError: bad split is now raised early\n",
	"an instruction":                 "### Instruction:\nWhy?\n" + raisedKeyError + "### Response:\nNo such key.\n",
	"a conversation":                 "<|im_start|>user\nI get RuntimeError: CUDA out of memory. Tried to allocate 20.00 MiB<|im_end|>\n<|im_start|>assistant\nReduce it.<|im_end|>\n",
	"a conversation in JSON":         `{"messages": [{"role": "user", "content": "What is ModuleNotFoundError: No module named 'numpy'?"}]}` + "\n",
	"a traceback in a JSON sample":   `{"instruction": "Explain", "input": "Traceback (most recent call last):\n  File \"a.py\", line 2, in f\n    v = d[\"k\"]\nKeyError: \"k\""}` + "\n",
	"a prompt between marks":         "<s>[INST] Why?\n" + raisedKeyError + "[/INST] No such key.</s>\n",
	"exceptions that are ignored":    "data:\n  ignore_errors: [FileNotFoundError, UnidentifiedImageError]\n",
	"what to do about exceptions":    "errors:\n  ValueError: skip\n  RuntimeError: abort\n",
	"exceptions that are tried on":   "retry_on:\n  - ConnectionError\n  - botocore.exceptions.ClientError\n",
	"patterns to look for":           "log_policies:\n  - pattern: \".*uncorrectable ECC error encountered.*\"\n",
	"patterns to look for, exported": "ERROR_PATTERNS=NCCL WARN;CUDA error;Segmentation fault;Killed\n",
}

func TestTextsThatSpeakOfErrors(t *testing.T) {
	for name, text := range spokenOf {
		t.Run(name, func(t *testing.T) {
			if r := read(t, "", strings.NewReader("starting\n"+text+"done with that\n")); r.Verdict != diagnose.Unknown {
				t.Errorf("before training: %s by %+v; want unknown", r.Verdict, r.Root)
			}
			if r := read(t, "", strings.NewReader(stepsOf(1, 5)+text+stepsOf(6, 3))); r.Verdict != diagnose.Healthy {
				t.Errorf("within training: %s by %+v; want healthy", r.Verdict, r.Root)
			}
			if r := read(t, "", strings.NewReader(text+"\n"+stepsOf(1, 5)+raisedKeyError)); r.Verdict != diagnose.Diagnosed || r.Root == nil || r.Root.Line != "KeyError: 'mask'" {
				t.Errorf("before a failure: %s by %+v; want the failure", r.Verdict, r.Root)
			}
		})
	}
}

// Programs report in these forms too: only training that goes on tells.
func TestFormsOfTextsAndOfReports(t *testing.T) {
	cases := map[string]string{
		"an item of a list":            "- RuntimeError: CUDA error: device-side assert triggered\n",
		"a heading":                    "## RuntimeError: CUDA error: device-side assert triggered\n",
		"a row of a table":             "| RuntimeError: CUDA error: device-side assert triggered | label out of range |\n",
		"quoted mail":                  "> Traceback (most recent call last):\n>   File \"a.py\", line 2, in f\n>     x\n> KeyError: 'x'\n",
		"code of an example":           "If you encounter a message like this\n```\nRuntimeError: CUDA error: device-side assert triggered\n```\nreduce the batch.\n",
		"code without an introduction": "It said\n```\nKeyError: 'email'\n```\n",
		"when it is raised":            "ValueError: If all values are scalars, an index is needed\n",
		"code within a sentence":       "Symptom of it: `RuntimeError: CUDA error: device-side assert triggered`\n",
		"below a word for exceptions":  "Exceptions:\n    PermissionError: the output folder is not writable\n",
		"a heading that is a cause":    "## NaN Loss\n",
	}
	for name, text := range cases {
		t.Run(name, func(t *testing.T) {
			for after, want := range map[int]diagnose.Verdict{0: diagnose.Diagnosed, 3: diagnose.Diagnosed, 20: diagnose.Healthy} {
				if r := read(t, "", strings.NewReader(stepsOf(1, 5)+text+stepsOf(6, after))); r.Verdict != want {
					t.Errorf("%d steps after it: %s by %+v; want %s", after, r.Verdict, r.Root, want)
				}
			}
		})
	}
}

// What looks like one of these texts and is a report is found, whatever goes on after it.
func TestReportsThatLookLikeTexts(t *testing.T) {
	cases := map[string]struct{ text, want string }{
		"a report below a docstring":         {"Raises:\nValueError: if it is too large\nFileNotFoundError: [Errno 2] No such file or directory: '/data/v.json'\n", "v.json"},
		"a report below options":             {"  --strict              stop at errors\nRuntimeError: CUDA error: device-side assert triggered\n", "device-side"},
		"a report below a changelog":         {"## Changelog\n\n- fixed the loader\n\nRuntimeError: CUDA error: device-side assert triggered\n", "device-side"},
		"a structured log of a worker":       {`{"role": "worker", "msg": "Traceback (most recent call last):\n  File \"a.py\", line 2, in f\n    v = d[\"k\"]\nKeyError: \"k\""}` + "\n", "KeyError"},
		"what somebody asks for help with":   {"I get this when it starts:\n```\n" + raisedKeyError + "```\n", "KeyError: 'mask'"},
		"a sample that broke the run":        {`could not use {"instruction": "Explain", "id": 3}: RuntimeError: CUDA error: device-side assert triggered` + "\n", "device-side"},
		"an item that is a line of a log":    {"2026-01-02 03:04:05,123 - trainer - ERROR - RuntimeError: CUDA error: device-side assert triggered\n" + stepsOf(6, 4), "device-side"},
		"a setting before an error":          {"policy=fsdp error=RuntimeError: CUDA error: device-side assert triggered\n", "device-side"},
		"an error of who repairs":            {"cannot fix the owner: PermissionError: [Errno 13] Permission denied: '/out'\n", "/out"},
		"a prompt that is not closed":        {"<|im_start|>user\n" + raisedKeyError, "KeyError: 'mask'"},
		"below an instruction without reply": {"### Instruction:\nexplain\n" + raisedKeyError, "KeyError: 'mask'"},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			r := read(t, "", strings.NewReader(stepsOf(1, 5)+tc.text+"\n"))
			if r.Verdict != diagnose.Diagnosed || r.Root == nil || !strings.Contains(r.Root.Line, tc.want) {
				t.Errorf("%s by %+v; want %q", r.Verdict, r.Root, tc.want)
			}
		})
	}
}

// However often texts speak of an error, the same error is found where it is reported at last.
func TestManySamplesBeforeAReport(t *testing.T) {
	sample := "### Instruction:\nWhy?\nKeyError: 'email'\n### Response:\nNo such key.\n"
	r := read(t, "", strings.NewReader(strings.Repeat(sample, 40)+stepsOf(1, 5)+raisedKeyError))
	if r.Verdict != diagnose.Diagnosed || r.Root == nil || r.Root.Line != "KeyError: 'mask'" {
		t.Errorf("%s by %+v; want the failure", r.Verdict, r.Root)
	}
}
