package environment

import "testing"

func TestRandomValuesLookDrawn(t *testing.T) {
	cases := map[string]bool{
		"a8f5f167f44f4964e6c998dee827110c": true, "Zk3+9dQ/x": false, "sdf98sdf7s9df87s9d8f7": true,
		"your-key-1234567890": false, "changeme12345678": false, "1234567890123456": false, "/etc/keys/0123456789": false,
		"two words 123456789": false, "abcdefghijklmnopqrst": false, "": false,
	}
	for value, want := range cases {
		if got := random(value); got != want {
			t.Errorf("%q looks drawn: %t, want %t", value, got, want)
		}
	}
}

func TestSecretNames(t *testing.T) {
	cases := map[string]bool{
		"HF_TOKEN": true, "WANDB_API_KEY": true, "AWS_SECRET_ACCESS_KEY": true, "AWS_ACCESS_KEY_ID": true, "DB_PASSWORD": true, "token": true, "MINIO_SECRET_KEY": true,
		"TOKENIZERS_PARALLELISM": false, "MAX_TOKENS": false, "GROUP_KEY": false, "SECRET_NAME": false, "KEYBOARD": false, "MONKEY": false,
	}
	for name, want := range cases {
		if got := secretName(name); got != want {
			t.Errorf("%s names a secret: %t, want %t", name, got, want)
		}
	}
}
