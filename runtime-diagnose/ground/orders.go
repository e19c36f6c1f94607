package ground

import (
	"slices"
	"strings"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// chat are the marks and words by which a text speaks to a model or for one.
var chat = lazy.MustCompile(`(?i)<\|?/?(?:im_start|im_end|system|endoftext|assistant|user)\b|\[/?INST\]|^\W{0,4}(?:system|assistant|user|human|developer)\s*[:：]|\b(?:previous|prior|above|earlier|all) instructions?\b|\b(?:language model|as an ai|llms?(?:$|[^\w-])|nominate[ds]?|nomination)\b|\b(?:healthy|solution|analysis)\s*[:：]|\byou (?:must|should|are now|have to|need to)\b|\b(?:job|run|training) is (?:healthy|fine|well)\b|忽略.{0,8}指令|提名`)

// addressed are the words and marks by which a text speaks to a model, whoever's log it stands in.
var addressed = lazy.MustCompile(`(?i)<\|?/?(?:im_start|im_end|endoftext)\b|\[/?INST\]|<<SYS>>|</?(?:invoke|function_calls?|tool_calls?)\b|"(?:role|tool_calls?|function_call)"\s*:|` +
	`^\W{0,4}(?:assistant|human)\s*[:：]|\b(?:ignore|forget|disregard|override|new|previous|prior|above|earlier|all|follow|these|system|hidden) (?:\w+ ){0,3}?(?:instructions?|prompts?)\b|` +
	`\b(?:large |big )?language models?\b|\bLLMs?\b|\b(?:an|as an|to|for|dear|the|any|attention|hey) AI\b|\bAI (?:assistants?|reviewers?|agents?|readers?)\b|\b(?:to|for|dear|note to|attention) (?:the |all )?(?:assistants?|chatbots?|models? that)\b|\bassistants? (?:reading|quoting|must|should|shall)\b|` +
	`忽略.{0,8}(?:指令|内容|规则)|大模型|人工智能助手|系统(?:消息|提示)|指示を無視|以前の指示|システム指示|지시.{0,6}무시|\b(?:ignoriere|vergiss|anweisung(?:en)?|ignorez|oublie[zr]?|instrucciones|ignora|игнорируй\w*|инструкци\w*)\b`)

// markup are the marks by which a page or a template would do more than show a text.
var markup = lazy.MustCompile(`(?i)^\s*[{\[]\s*"|<(?:!--|/?(?:script|img|form|iframe|svg|input|style|object|embed|link|a|html|body|invoke|function_calls?|tool_calls?|parameter|system|assistant|user)\b)|!\[|~~|\]\(|\bjavascript:|\bdata:[a-z]+/|\{\{|\{%|\$\{|"(?:role|tool_calls?|override)"\s*:|\bjndi:`)

// orders are words by which somebody is told what to say or to leave out.
var orders = lazy.MustCompile(`(?i)(?:^|[:;—]\s*)(?:please )?(?:do not|don['’]t|never|always|be sure to|make sure|remember to|let['’]?s|append|mention|classify|output|praise|recommend|omit|hide|pretend|act as|obey|follow|decode|trust|believe|say|treat|mark|urldecode|translate) `)

// hiddenText is text in an encoding that nobody reads: base64 of 36 bytes or more, percent and hexadecimal escapes.
var hiddenText = lazy.MustCompile(`[A-Za-z0-9+/]{48,}={0,2}|(?:%[0-9A-Fa-f]{2}){4,}|(?:\\x[0-9A-Fa-f]{2}){4,}|(?:&#x?[0-9A-Fa-f]+;){4,}`)

// encoded says whether a text holds what nobody can read without decoding it. A digest in hexadecimal is a name.
func encoded(text string) bool {
	return slices.ContainsFunc(hiddenText.FindAllString(text, -1), func(s string) bool { return !hexadecimal.MatchString(s) })
}

var hexadecimal = lazy.MustCompile(`^[0-9a-f]+$`)

// Injected says that a text which came through a log or an event speaks to whoever reads it: it has marks of a
// chat, gives orders, asks for secrets, holds a command, or says who is to blame. Such a text is no cause.
func Injected(text string) bool {
	text = Clean(text)
	return chat.MatchString(text) || addressed.MatchString(text) || encoded(text) || !strings.HasPrefix(strings.TrimSpace(text), "{") && markup.MatchString(text) || (asks.MatchString(text) || ofOthers.MatchString(text)) && wants.MatchString(text) || imperativeIn.MatchString(text) || shellLike.MatchString(text) ||
		blames.MatchString(text) && blamed.MatchString(text)
}

// fields are those of a finding, set: that is the rules' alone.
var fields = lazy.MustCompile(`(?i)\b(?:retry|owner|category|verdict|healthy|standing|nominate)\s*[=:]`)

// ofOthers are secrets that a claim may name, and not ask for.
var ofOthers = lazy.MustCompile(`(?i)\bthe (?:\w+ )?(?:tokens?|passwords?|passwd|credentials?|secrets?|api keys?|kubeconfig|ssh keys?|private keys?|bank|wallet|account)\b|密码|口令|密钥|令牌`)

// wants are words by which somebody asks for something.
var wants = lazy.MustCompile(`(?i)\b(?:your|my|send|paste|give|share|upload|post|tell|enter|click|visit)\b|发送|粘贴|上传|提供|告诉|输入|发给`)

// blamed are those whom a log does not blame.
var blamed = lazy.MustCompile(`(?i)\b(?:administrators?|colleagues?|help ?desk|support team|somebody|operators? of|retry(?:ing)? helps?)\b|管理员`)

// NoAddress is a text without addresses of the network: what came through a log is not a source of any.
func NoAddress(text string) string { return address.ReplaceAllString(text, "(an address)") }
