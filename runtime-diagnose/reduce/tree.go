package reduce

import "regexp"

// secretFlag is an option of a command line whose value is the next word, and is secret. It ends
// with what it names: --hf-token is one, --tokenizer and --num-tokens are none.
var secretFlag = regexp.MustCompile(`(?i)^--?(?:[\w-]*[_-])?(?:pass(?:word|wd|phrase)?|secret|token|credentials?|(?:api|access|account|private|secret)[_-]?key)$`)

// MaskTree masks the secrets in all texts of a decoded JSON value: within each text as Mask does,
// and in lists of words the one behind an option that is named like a secret. Lists and maps are
// changed in place; keys stay as they are.
func MaskTree(v any) any {
	switch v := v.(type) {
	case string:
		return Mask(v)
	case []any:
		secret := false
		for i := range v {
			word, isText := v[i].(string)
			if secret && isText && word != "" {
				v[i] = masked
			} else {
				v[i] = MaskTree(v[i])
			}
			secret = isText && secretFlag.MatchString(word)
		}
	case map[string]any:
		for key := range v {
			v[key] = MaskTree(v[key])
		}
	}
	return v
}
