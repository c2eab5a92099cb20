"""Chinese words of topics that no skeleton treats: the model that tells such topics in English reads no Chinese."""

_WORDS = frozenset("""
安装 卸载 驱动 微调 数据集 标注 提示词 爬虫 网页 前端 数据库 表格 教程 入门 面试 价格 购买 多少钱 天气
学习率 强化学习 奖励模型 过拟合 超参 优化器 损失函数 训练不 招聘 简历 许可证 开源协议 容器 镜像 云服务
翻译 游戏 分词 股票 电影 手机 邮件 防火墙 密码 登录 域名
""".split())


def is_off_topic(text: str) -> bool:
    """Whether a Chinese query speaks of such a topic: then only records that plainly answer it do."""
    return any(word in text for word in _WORDS)
