package ground

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/signalbox-dev/signalbox/runtime-diagnose/lazy"
)

// hanNeutral are the words with which an explanation in Chinese is written, and which say nothing of their own.
var hanNeutral = strings.Fields(`的 了 在 上 中 下 里 内 外 处 和 与 及 并 且 或 而 但 是 为 即 把 将 被 由 从 向 到 至 对 于 以 其 该 此 这 那 它 之 后 前 时 当 也 还 又 再 仅 只 已 已经 曾 正在 随后 之后 之前 然后 接着 最后 首先 最终 因此 所以 因为 由于 因 导致 使得 使 引起 引发 造成 从而 于是 同时 期间 过程 过程中 其中
第 号 个 台 次 步 行 层 轮 条 种 份 约 共 大约 左右 进程 节点 任务 作业 训练 程序 容器 主节点 工作节点 工作进程 子进程 组 成员 秩 日志 事件 消息 信息 显示 表明 说明 报告 报错 记录 指出 提到 提示 写道 出错 错误 故障 异常 发生 出现 遇到 收到 抛出 触发 报 出 码 代码 退出码 状态 状态码 原因 根本原因 结果 后果 问题 情况 尝试 试图 请求 需要 要求 想要 开始 进行 执行 处理 使用 变为 变成 成为 称 叫 名为 位于 来自 属于 根据 证据 可见 可能 其他 任何 另 另外 另一 一个 两个 几个 多个 秒 分钟 小时 毫秒 字节 总 总共 只有 仅有 有 无 没有 没 不 未 未能 无法 不能 不足 不够 都 均 全部 所有 每个 一切 从未 自己 自身 本身 因而 以及 之间 当时 时间 值 数值 大小 数量 较 更 过 得 去 来 给 让 即使 如果 则 会 应 而言 关于 有关 相关 方面 部分 其余`)

// What became of something, what it does and what it can do or will is said in few words, of which each has many in evidence.
const (
	ofEnded   = `\bexit|\bend(?:s|ed)\b|terminat|kill|stop|abort|fail|err|exception|complet|finish|oom|evict|preempt|delet|signal|crash|shut|broke|clos|refus|denied|reject|cannot|not |\bno\b|lost|segv|core dump|panic|time[ds]?[ -]?out|mismatch`
	ofRunning = `\brunning|\bran\b|\bsteps?\b|\bepoch|\biter|\bstarted|\bexec|it/s`
	ofWaiting = `wait|pending|time[ds]?[ -]?out|barrier|join|stuck|hang|hung|rendezvous|deadline|gate|schedul|retry`
	ofAble    = `\b(?:can|could|able to|success\w*|succeed\w*|allow\w*)\b`
	ofWill    = `\bwill\b|\babout to\b`
)

// hanWords are words that say something, and what stands in evidence that supports them.
var hanWords = hanTable([][2]string{
	{"退出", ofEnded},
	{"结束", ofEnded},
	{"终止", ofEnded},
	{"停止", ofEnded},
	{"中止", ofEnded},
	{"中断", ofEnded},
	{"崩溃", ofEnded},
	{"失败", ofEnded},
	{"缺少", `\bno\b|\bnot |missing|lack|absent|without|insufficient`},
	{"缺失", `\bno\b|\bnot |missing|lack|absent`},
	{"运行", ofRunning},
	{"运行时", `runtime`},
	{"等待", ofWaiting},
	{"等", ofWaiting},
	{"等到", ofWaiting},
	{"可以", ofAble},
	{"能够", ofAble},
	{"能", ofAble},
	{"可", ofAble},
	{"即将", ofWill},
	{"将会", ofWill},
	{"将要", ofWill},
	{"显存", `(?:cuda|gpu|hbm|hip|npu|device).*memory|memory.*(?:cuda|gpu)|outofmemory`},
	{"内存", `memory|\boom|\bram\b`},
	{"溢出", `overflow|out of memory|\boom`},
	{"耗尽", `out of|exhaust|no space|full`},
	{"分配", `alloc|assign`},
	{"申请", `alloc|request|ask`},
	{"限制", `limit|restrict`},
	{"上限", `limit`},
	{"超出", `exceed|limit|over|\boom`},
	{"超过", `exceed|limit|over|\boom|after`},
	{"空闲", `free`},
	{"可用", `available|free`},
	{"不可用", `not available|unavailable|unschedulable|\b0/\d+ nodes`},
	{"容量", `capacity|size`},
	{"磁盘", `disk|space left|ephemeral-storage|filesystem`},
	{"空间", `space|storage`},
	{"存储", `storage|disk|volume|nfs|ceph`},
	{"临时存储", `ephemeral-storage`},
	{"写入", `writ|save|space left|checkpoint`},
	{"读取", `read|load`},
	{"加载", `load`},
	{"保存", `save|writ`},
	{"打开", `open`},
	{"文件", `file|directory|/`},
	{"目录", `director|/`},
	{"路径", `path|file|/`},
	{"不存在", `no such|not found|notfound|missing|not exist`},
	{"存在", `\bexists?\b`},
	{"找不到", `\bno \w|n[o'’]t find|no such|not found|notfound|no module|cannot find|missing`},
	{"找到", `\bfound\b`},
	{"丢失", `lost|missing`},
	{"检查点", `checkpoint|ckpt|\.pt\b|shards?`},
	{"分片", `shard`},
	{"数据集", `dataset|data set|parquet`},
	{"数据", `data`},
	{"加载器", `loader`},
	{"损坏", `corrupt|damag`},
	{"模块", `module|import`},
	{"软件包", `package|module`},
	{"包", `package|module|packet`},
	{"库", `librar|\.so`},
	{"导入", `import|module`},
	{"安装", `install|no module`},
	{"版本", `version`},
	{"依赖", `depend|requir`},
	{"镜像", `image`},
	{"拉取", `pull`},
	{"仓库", `registr|repositor`},
	{"退避", `back-?off`},
	{"重启", `restart|back-off`},
	{"重试", `retr|back-off|attempt`},
	{"调度", `schedul|nodes are available`},
	{"调度器", `schedul`},
	{"污点", `taint`},
	{"容忍", `tolera`},
	{"资源", `resource|insufficient|cpu|gpu`},
	{"配额", `quota`},
	{"优先级", `priorit|preempt`},
	{"抢占", `preempt`},
	{"驱逐", `evict`},
	{"网络", `network|nccl|connect|socket|\bib\b`},
	{"端口", `port|:\d+`},
	{"连接", `connect`},
	{"断开", `clos|disconnect|reset|lost`},
	{"关闭", `clos|shut`},
	{"对端", `peer|remote`},
	{"拒绝", `refus|denied|reject|forbidden`},
	{"地址", `address|addr`},
	{"域名", `dns|resol|host`},
	{"解析", `resol|pars|decod`},
	{"主机", `host|node`},
	{"服务器", `server`},
	{"客户端", `client`},
	{"加入", `join`},
	{"交换机", `switch`},
	{"网卡", `\bnic|mlx|hca|net/ib`},
	{"丢包", `packet`},
	{"带宽", `bandwidth`},
	{"链路", `link`},
	{"通信", `nccl|gloo|hccl|collective|communicat|connect`},
	{"通信器", `communicator`},
	{"集合通信", `collective|nccl|gloo|hccl|allreduce`},
	{"集合操作", `collective|allreduce|allgather`},
	{"看门狗", `watchdog`},
	{"超时", `time[d ]?-?\s?out|deadline`},
	{"死锁", `deadlock`},
	{"挂起", `hang|hung|stuck`},
	{"同步", `sync|barrier`},
	{"会合", `rendezvous`},
	{"权限", `permission|denied|forbidden|access`},
	{"访问", `access`},
	{"认证", `auth|401`},
	{"受限", `restrict|gated|limit`},
	{"凭证", `credential|token`},
	{"模型", `model`},
	{"损失", `loss`},
	{"梯度", `grad`},
	{"学习率", `learning rate|\blr\b`},
	{"发散", `diverg|\bnan\b|\binf\b`},
	{"非数", `nan`},
	{"形状", `shape|size`},
	{"维度", `dim`},
	{"不匹配", `mismatch|n[o'’]t match`},
	{"张量", `tensor`},
	{"硬件", `hardware|ecc|xid`},
	{"设备", `device|gpu|cuda|mlx|npu`},
	{"驱动", `driver`},
	{"温度", `temperature|thermal`},
	{"过热", `overheat|thermal`},
	{"不可纠正", `uncorrectable`},
	{"位", `bit`},
	{"双", `double|two`},
	{"显卡", `gpu|cuda`},
	{"内核", `kernel`},
	{"信号", `signal|sig|exit 1[2-4]\d`},
	{"杀死", `kill|\boom|signal 9`},
	{"段错误", `segmentation|sigsegv|signal 11`},
	{"核心转储", `core dump`},
	{"断言", `assert`},
	{"编译", `compil`},
	{"挂载", `mount`},
	{"卷", `volume`},
	{"环境变量", `environment|[A-Z_]{4,}=`},
	{"参数", `argument|param|option`},
	{"配置", `config|setting`},
	{"函数", `\(\)|function`},
	{"阈值", `threshold`},
	{"低于", `below|less|low|threshold|available`},
	{"完成", `complet|finish|done`},
	{"成功", `success|succeeded`},
	{"正常", `normal|healthy`},
	{"恢复", `recover|resum|restor`},
	{"剩", `free|left|remain`},
	{"剩余", `free|left|remain`},
	{"创建", `creat`},
	{"删除", `delet|remov`},
	{"更新", `updat`},
	{"权重", `weight|state_dict|checkpoint`},
	{"启动", `\bstart|\blaunch(?:ed|ing|es)\b|spawn`},
	{"初始化", `init`},
	{"监听", `listen`},
	{"总线", `\bbus\b`},
	{"架构", `architecture|\barch\b`},
	{"绑定", `\bbind`},
	{"占用", `in use|used|already|busy`},
	{"上报", `post|report`},
	{"失联", `unreachable|unknown|not ready|lost|no response`},
	{"不可达", `unreachable|no route`},
	{"索引", `index`},
	{"越界", `out of (?:range|bounds)|indexerror`},
	{"下载", `download|fetch`},
	{"证书", `certificate|\bssl|\btls`},
	{"副本", `replica`},
	{"队列", `queue`},
	{"命名空间", `namespace`},
	{"名称", `name`},
	{"类型", `type`},
	{"精度", `precision|dtype|fp16|bf16|float`},
	{"批次", `batch`},
	{"迭代", `iter|step`},
	{"线程", `thread`},
	{"共享内存", `shared memory|shm`},
	{"进度", `progress`},
	{"套接字", `socket`},
	{"键", `key`},
	{"屏障", `barrier`},
	{"到达", `reach|arriv|join`},
	{"抵达", `reach|arriv|join`},
	{"算子", `kernel|operator|_cuda|aten|not implemented`},
	{"实现", `implement`},
	{"准入", `admission|webhook`},
	{"签名", `sign(?:ed|ature)`},
	{"策略", `polic`},
	{"匹配", `match`},
	{"亲和性", `affinity`},
	{"选择器", `selector`},
	{"标签", `label|\btag`},
	{"回收", `reclaim|preempt|spot`},
	{"提供商", `provider`},
	{"路由", `route`},
	{"握手", `handshake`},
	{"接收方", `receiver`},
	{"发送", `sen[dt]`},
	{"响应", `respon`},
	{"识别", `recogni|unrecogni|unknown`},
	{"格式", `format`},
	{"音频", `flac|wav|audio|sound`},
	{"解码", `decod`},
	{"压缩", `compress|zip|gz`},
	{"命令", `command|exec`},
	{"脚本", `\.sh|script`},
	{"环境", `environment|\benv`},
	{"设置", `set|config|=`},
	{"配置映射", `configmap`},
	{"密文", `secret`},
	{"租约", `lease`},
	{"选举", `leader|election`},
	{"缓存", `cache`},
	{"编号", `index|\bid\b|number`},
	{"存活", `alive|liveness`},
	{"探针", `probe`},
	{"未就绪", `not ?ready|unready`},
	{"就绪", `ready`},
	{"待定", `pending`},
	{"挂起中", `pending|suspend`},
	{"污染", `taint`},
	{"未容忍", `untolerated|not tolerate|didn't tolerate`},
	{"维护", `maintenance`},
	{"设备上", `device`},
	{"带", `with`},
	{"句柄", `handle|descriptor|open files`},
	{"打包", `pack`},
	{"反序列化", `pickle|deserial|unpickl`},
	{"序列化", `serial|pickle`},
	{"断连", `disconnect|clos|reset|lost`},
	{"令牌桶", `rate limit|throttl`},
	{"限流", `rate limit|throttl|429|too many requests`},
	{"权重文件", `weight|safetensors|checkpoint`},
	{"词表", `vocab|token`},
	{"分词器", `tokeni[sz]er`},
	{"学习", `learn`},
	{"步数", `step`},
	{"轮次", `epoch`},
	{"吞吐", `throughput|/s\b|per second`},
})

// hanTable adds the words that need no evidence.
func hanTable(list [][2]string) map[string]*lazy.Regexp {
	m := make(map[string]*lazy.Regexp, len(list)+len(hanNeutral))
	for _, w := range list {
		m[w[0]] = lazy.MustCompile(`(?i)` + w[1])
	}
	for _, w := range hanNeutral {
		if m[w] == nil {
			m[w] = nil
		}
	}
	return m
}

// longestHan is how many characters the longest of these words has.
const longestHan = 5

// unreadHan says whether a claim in Chinese has words that its evidence does not support, or that the rules do not
// know. The longest word that fits is taken.
func unreadHan(plain, support string) bool {
	for at := 0; at < len(plain); {
		r, size := utf8.DecodeRuneInString(plain[at:])
		if !unicode.Is(unicode.Han, r) {
			at += size
			continue
		}
		word := hanAt(plain[at:])
		if word == "" {
			return true
		}
		if needs := hanWords[word]; needs != nil && !needs.MatchString(support) {
			return true
		}
		at += len(word)
	}
	return false
}

func hanAt(text string) string {
	word, end := "", 0
	for range longestHan {
		_, size := utf8.DecodeRuneInString(text[end:])
		if size == 0 {
			break
		}
		end += size
		if _, ok := hanWords[text[:end]]; ok {
			word = text[:end]
		}
	}
	return word
}

// hanSigns are what supports the words of a claim in Chinese.
func hanSigns(plain string) (out []*lazy.Regexp) {
	for at := 0; at < len(plain); {
		_, size := utf8.DecodeRuneInString(plain[at:])
		word := hanAt(plain[at:])
		if needs := hanWords[word]; needs != nil {
			out = append(out, needs)
		}
		at += max(len(word), size)
	}
	return out
}

// hanCount is a number in characters that counts something. A lone 一 is an article.
var hanCount = lazy.MustCompile(`([一二两三四五六七八九十百千万]+)(\s*(?:个|号|名|台|次|步|条|秒|分钟|小时|进程|节点|成员))`)

// hanDigits are the characters of numbers; hanTens multiply what stands before them.
var (
	hanDigits = map[rune]int{'一': 1, '二': 2, '两': 2, '三': 3, '四': 4, '五': 5, '六': 6, '七': 7, '八': 8, '九': 9}
	hanTens   = map[rune]int{'十': 10, '百': 100, '千': 1000, '万': 10000}
)

// hanInDigits writes the numbers of a claim in Chinese as its evidence does: 三个 as 3 个.
func hanInDigits(claim string) string {
	return hanCount.ReplaceAllStringFunc(claim, func(m string) string {
		of := hanCount.FindStringSubmatch(m)
		if of[1] == "一" {
			return m
		}
		sum, digit := 0, 0
		for _, r := range of[1] {
			if tens := hanTens[r]; tens > 0 {
				sum, digit = sum+max(1, digit)*tens, 0
				continue
			}
			digit = hanDigits[r]
		}
		return strconv.Itoa(sum+digit) + of[2]
	})
}
